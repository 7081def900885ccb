/**
 * Optics as they are: errors that are all corrected, light that differs from port to port, copper without light.
 *
 * Healthy ports were seen from 0 to 2e-9 before correction (sonic-swss #3757, sichek #125); the mean of a mixed plant is
 * taken for 10^-9.5. Monitors are right within 3 dB of power (SFF-8472). RS(544,514) puts 5 440 bits in a codeword.
 */
import { portId } from '../../../src/core/elements.js';
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import { QUALITY, seriesWith, type Evidence, type Series } from '../../../src/model/telemetry/series.js';
import { edited, editedOf, withValues } from './edits.js';
import { normal, pickOne, poisson, uniform, type Perturbation } from './perturbation.js';

const CODEWORD_BITS = 5440;

/** Errors before correction on a port, added to what is there, with all the counters that tell of them. */
function erring(
  { topology, evidence }: DiagnosisInput,
  seed: number,
  ratioOf: (port: string) => number,
): Evidence {
  const rates = new Map(
    topology.ports.map(({ name, link }) => [portId(name), 1e9 * topology.links[link].rateGbps]),
  );
  const edit = (series: Series): Series => {
    const ratio = ratioOf(series.element);
    if (ratio === 0) return series;
    const bitsPerS = rates.get(series.element) ?? 0;
    if (series.metric === 'port_fec_pre_ber') {
      return withValues(
        series,
        (old, _, index) => old + poisson(ratio * bitsPerS, seed, 'bits', series.element, index) / bitsPerS,
      );
    }
    // far below one error a codeword every error has a codeword and a symbol of its own
    const perS = (bitsPerS / CODEWORD_BITS) * Math.min(1, ratio * CODEWORD_BITS);
    return withValues(series, (old, timeNs) => old + Math.floor((perS * timeNs) / 1e9));
  };
  return editedOf(
    evidence,
    ['port_fec_pre_ber', 'port_fec_corrected_codewords', 'port_fec_symbol_errors'],
    edit,
  );
}

const POWERS = new Set(['optic_rx_power_dbm', 'optic_tx_power_dbm']);

/** No light is monitored on copper: not read, nought, or the floor. */
function copper(series: Series, manner: number): Series {
  if (!series.metric.startsWith('optic_')) return series;
  if (manner === 0) {
    return seriesWith(series, {
      values: series.values.map(() => NaN),
      quality: series.quality.map(() => QUALITY.notAvailable),
    });
  }
  const told = manner === 1 || !POWERS.has(series.metric) ? 0 : -40;
  return withValues(series, () => told);
}

export const OPTICS: readonly Perturbation[] = [
  {
    name: 'corrected-errors',
    what: 'one port with a pre-FEC BER of 3e-7, all corrected',
    apply: (world, seed) => {
      const chosen = pickOne(world.topology.ports, seed, 'port');
      return {
        evidence: erring(world, seed, (port) => (port === portId(chosen?.name ?? '') ? 3e-7 : 0)),
      };
    },
  },
  {
    name: 'mixed-optics',
    what: 'every port has a pre-FEC BER of its own, 1e-13 to 3e-7',
    apply: (world, seed) => ({
      evidence: erring(
        world,
        seed,
        (port) => 10 ** Math.min(-6.5, Math.max(-13, -9.5 + 1.2 * normal(seed, 'ratio', port))),
      ),
    }),
  },
  {
    name: 'left-over-codewords',
    what: 'uncorrectable codewords left from the last link-up, not growing',
    apply: ({ evidence }, seed) => ({
      evidence: editedOf(evidence, ['port_fec_uncorrected_codewords'], (series) => {
        const left = 4 * poisson(1, seed, 'left over', series.element);
        return withValues(series, (old) => old + left);
      }),
    }),
  },
  {
    name: 'dom-bias',
    what: 'light differs by 1 dB from port to port and is read with 0.03 dB of noise',
    apply: ({ evidence }, seed) => ({
      evidence: editedOf(evidence, ['optic_rx_power_dbm', 'optic_tx_power_dbm'], (series) => {
        const bias = Math.min(2.5, Math.max(-2.5, normal(seed, series.metric, series.element)));
        return withValues(series, (old, _, index) =>
          old <= -35 ? old : old + bias + 0.03 * normal(seed, `${series.metric} read`, series.element, index),
        );
      }),
    }),
  },
  {
    name: 'copper',
    what: 'links of hosts are copper: light not read, 0, or at the floor',
    apply: ({ topology, evidence }, seed) => {
      const manners = new Map(
        topology.links
          .filter(({ tier }) => tier === 'host-leaf')
          .flatMap(({ portA, portB }) =>
            [portA, portB].map((port) => {
              const id = portId(topology.ports[port].name);
              return [id, Math.floor(3 * uniform(seed, 'copper', id))] as const;
            }),
          ),
      );
      return {
        evidence: edited(evidence, (series) => {
          const manner = manners.get(series.element);
          return manner === undefined ? series : copper(series, manner);
        }),
      };
    },
  },
];
