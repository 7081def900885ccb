/**
 * Switches whose buffer is smaller than what pausing without loss takes: a reader of the plan should know it.
 *
 * A port that pauses its peer must take what is under way until the pause is heard, rate × delay each way, so over tens of
 * kilometres that headroom outgrows any buffer. The simulator takes the headroom as there (or, where `settings.pfc.headroom`
 * says less, loses the difference at every pause); whether a switch can be had that has it is for the reader to know.
 */
import { formatSizeBytes } from '../../core/units.js';
import type { FabricDescription } from '../../fabric-api/fabric.js';

/** One sentence about the worst switch, with how many are like it. */
export function bufferNotes({
  topology,
  congestion,
}: Pick<FabricDescription, 'topology' | 'congestion'>): string[] {
  if (congestion === undefined || congestion.losslessPriorities.length === 0) return [];
  const classes = congestion.losslessPriorities.length;
  const ports = new Int32Array(topology.devices.length);
  for (const { device } of topology.ports) ports[device]++;
  const short = topology.devices
    .filter(({ role }) => role === 'switch')
    .map(({ index, name }) => {
      const { bufferBytes, headroomBytes } = congestion.ofSwitch(index);
      return {
        name,
        ports: ports[index],
        bufferBytes,
        headroomBytes,
        all: ports[index] * classes * headroomBytes,
      };
    })
    .filter(({ all, bufferBytes }) => all > bufferBytes)
    .sort((one, other) => other.all / other.bufferBytes - one.all / one.bufferBytes);
  if (short.length === 0) return [];
  const [{ name, bufferBytes, headroomBytes, all, ports: count }] = short;
  const [buffer, headroom, sum] = [bufferBytes, headroomBytes, all].map(rounded);
  const others = short.length === 1 ? '' : `, as ${short.length - 1} more`;
  const of = `${count} ports${classes === 1 ? '' : ` and ${classes} classes`}`;
  return [
    `${name} has ${buffer} of buffer, and pausing without loss over its links takes ${headroom} of headroom a port, ${sum} for ${of}${others}: the simulation takes that headroom as there; settings.buffer and settings.pfc.headroom say what a switch really has`,
  ];
}

/** To three digits. */
const rounded = (bytes: number): string => formatSizeBytes(Number(bytes.toPrecision(3)));
