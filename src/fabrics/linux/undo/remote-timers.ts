/**
 * Undo timers on devices that are reached over SSH: each waits on the device it acts on, whoever is still connected.
 *
 * One command starts the timer in a session of its own and ends; a second connects again and reads back that it sleeps there
 * and is who it says (pid and start time from /proc). So what is proved is a timer that has outlived the session that armed
 * it. Its file on the device says what it gives back; renamed to `.fired` it has acted. To disarm is to kill its group.
 * Not modelled: a reboot of the device, after which the timer is gone and what was set by command mostly, too; systems
 * that end all of a user's processes with his last session (logind's KillUserProcesses, off as shipped).
 */
import { EnvironmentError } from '../../../kernel/problem.js';
import type { ProcessIdentity } from '../../../platform/process-identity.js';
import { quoteCommand, script } from './shell.js';
import { UNDO_NAME, type Undo, type UndoKeeper, type UndoSpot, type UndoTimer } from './timers.js';

/** What is written down before the timer runs; which process it is, it says itself. */
type Note = Omit<UndoTimer, 'process'>;

const START_TIME = 'cut -d" " -f22 /proc/$1/stat 2>/dev/null';
const SLEEPER =
  'start() { cut -d" " -f22 /proc/$1/stat; }; echo "$$ $(start $$)" > "$3.pid.part"; mv "$3.pid.part" "$3.pid"; ' +
  'sleep "$1"; sh -c "$2"; mv "$3" "$3.fired"';
/** Folder, file, note, lease, what it does: all of them arguments, none of them read as a script but the last, once. */
const ARM =
  'mkdir -p "$1" && printf %s "$3" > "$2.part" && mv "$2.part" "$2" && ' +
  `{ setsid sh -c '${SLEEPER}' ${UNDO_NAME} "$4" "$5" "$2" </dev/null >/dev/null 2>&1 & }`;
/** For each note: the note, a tab, the pid of its process if that is still the one that it was and still ours. */
const LIST = `start() { ${START_TIME}; }
for f in "$1"/*.json; do
  [ -f "$f" ] || continue
  alive=
  if read -r pid begun < "$f.pid" 2>/dev/null && [ "$(start "$pid")" = "$begun" ] && grep -q ${UNDO_NAME} "/proc/$pid/cmdline"; then
    alive="$pid-$begun"
  fi
  printf '%s\\t%s\\t%s\\n' "\${f##*/}" "$(cat "$f")" "$alive"
done`;
/** Ends the timers whose files begin so, but for one, and says how many of them had acted. */
const END = `start() { ${START_TIME}; }
fired=0
for f in "$1"@*; do
  case "$f" in
    "$2" | "$2".*) continue ;;
    *.json.pid)
      if read -r pid begun < "$f" && [ "$(start "$pid")" = "$begun" ]; then kill -s KILL -- "-$pid"; fi ;;
    *.fired) fired=1 ;;
  esac
done
for f in "$1"@*; do
  case "$f" in "$2" | "$2".*) ;; *) rm -f "$f" ;; esac
done
echo $fired`;
const PROVED_WITHIN_MS = 5000;

export class RemoteUndoTimers implements UndoKeeper {
  /** @param folder on the devices */
  constructor(private readonly folder: string) {}

  async arm(undo: Undo, leaseS: number, owner: ProcessIdentity): Promise<void> {
    const { node, setting, steps } = undo;
    const firesAtMs = Date.now() + 1000 * leaseS;
    const there = (await this.armed([node])).filter((timer) => timer.setting === setting);
    if (there.some((timer) => timer.firesAtMs >= firesAtMs)) return;
    const text = script(steps);
    const file = `${this.stemOf(setting)}@${firesAtMs}.json`;
    const note: Note = {
      setting,
      node: node.name,
      owner,
      armedAt: new Date().toISOString(),
      firesAtMs,
      commands: quoteCommand(node.place.argv(['sh', '-c', text])),
    };
    const words = [this.folder, file, JSON.stringify(note), String(leaseS), text];
    await node.place.run(['sh', '-c', ARM, 'sh', ...words]);
    await this.prove(node, file, setting);
    await this.end(node, setting, file);
  }

  /** Timers that are armed on these devices, of whatever process. */
  async armed(nodes: readonly UndoSpot[]): Promise<UndoTimer[]> {
    const lists = await Promise.all([...new Set(nodes)].map((node) => this.list(node)));
    return lists.flat().map(({ timer }) => timer);
  }

  async disarm(setting: string, node: UndoSpot): Promise<boolean> {
    return (await this.end(node, setting, '')) === '1';
  }

  private async prove(node: UndoSpot, file: string, setting: string): Promise<void> {
    const untilMs = performance.now() + PROVED_WITHIN_MS;
    for (;;) {
      const found = await this.list(node);
      if (found.some((one) => one.file === file.slice(file.lastIndexOf('/') + 1))) return;
      if (performance.now() > untilMs) break;
    }
    await this.end(node, setting, '');
    throw new EnvironmentError(`the undo timer on ${node.name} did not start`, 'nothing has been injected');
  }

  private async list(node: UndoSpot): Promise<{ file: string; timer: UndoTimer }[]> {
    const { stdout } = await node.place.run(['sh', '-c', LIST, 'sh', this.folder]);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => {
        const [file, note, identity] = line.split('\t');
        return identity === '' ? [] : [{ file, timer: { ...(JSON.parse(note) as Note), process: identity } }];
      });
  }

  private async end(node: UndoSpot, setting: string, but: string): Promise<string> {
    const { stdout } = await node.place.run(['sh', '-c', END, 'sh', this.stemOf(setting), but]);
    return stdout.trim();
  }

  /** `@` ends it, which no encoded name holds, so that no name is the begin of another. */
  private stemOf(setting: string): string {
    return `${this.folder}/${encodeURIComponent(setting)}`;
  }
}
