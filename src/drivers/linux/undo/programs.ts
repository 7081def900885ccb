/**
 * What undo timers do on a device, as programs for a POSIX shell; both keepers of timers use them.
 *
 * Words are arguments, so that none is read as a script but those that are one. A timer that begins to act says so before
 * anything else: the file `.pid`, which names it, becomes `.firing`. So a setting can be turned under the eyes of its timer
 * (`TURN`): if the file is still there after it was turned, the timer will act later than that; if not, what the timer would
 * have done is done at once. Without it a fault that was turned late, on a busy machine, would outlive its timer and stay.
 */
export const UNDO_NAME = 'fabricdrill-undo';

/** Says whether the process that `$1` (a file) names still runs and is who it was. */
const RUNS =
  'start() { cut -d" " -f22 "/proc/$1/stat" 2>/dev/null; }; ' +
  'runs() { read -r pid begun 2>/dev/null < "$1" && [ -n "$begun" ] && [ "$(start "$pid")" = "$begun" ]; }';

/** `$1` lease in s, `$2` what it does, `$3` its file: sleeps, undoes, and says that it did. */
export const SLEEPER = [
  'start() { cut -d" " -f22 "/proc/$1/stat"; }',
  'echo "$$ $(start $$)" > "$3.pid.part"',
  'mv "$3.pid.part" "$3.pid"',
  'sleep "$1"',
  'mv "$3.pid" "$3.firing"',
  'sh -c "$2"',
  'mv "$3" "$3.fired"',
].join('; ');

/** Exit code of `TURN` when no timer waits. */
export const NO_TIMER = 75;

/** `$1` begin of the files of a setting's timers, `$2` what turns it, `$3` what undoes that. */
export const TURN = `${RUNS}
waits() { for f in "$1"*.pid; do runs "$f" && return 0; done; return 1; }
waits "$1" || exit ${NO_TIMER}
sh -c "$2"
code=$?
waits "$1" && exit $code
sh -c "$3"
exit ${NO_TIMER}`;

/** Folder, file, note, lease, what it does: starts a timer in a session of its own and ends. */
export const ARM =
  'mkdir -p "$1" && printf %s "$3" > "$2.part" && mv "$2.part" "$2" && ' +
  `{ setsid sh -c '${SLEEPER}' ${UNDO_NAME} "$4" "$5" "$2" </dev/null >/dev/null 2>&1 & }`;

/** `$1` folder. For each note: its file, the note, and who its timer is if that still runs and is ours; tabs between. */
export const LIST = `${RUNS}
ours() { runs "$1" && grep -q ${UNDO_NAME} "/proc/$pid/cmdline"; }
for f in "$1"/*.json; do
  note=$(cat "$f" 2>/dev/null) || continue
  alive=
  if ours "$f.pid" || ours "$f.firing"; then alive="$pid-$begun"; fi
  printf '%s\\t%s\\t%s\\n' "\${f##*/}" "$note" "$alive"
done`;

/** `$1` begin of the files of a setting's timers, `$2` one that stays: ends the others, says whether one of them had acted. */
const END_OTHERS = `fired=0
for f in "$1"*; do
  case "$f" in
    "$2" | "$2".*) continue ;;
    *.pid) if runs "$f"; then kill -s KILL -- "-$pid"; fi ;;
    *.firing) fired=1; if runs "$f"; then kill -s KILL -- "-$pid"; fi ;;
    *.fired) fired=1 ;;
  esac
done
for f in "$1"*; do
  case "$f" in "$2" | "$2".*) ;; *) rm -f "$f" ;; esac
done`;

export const END = `${RUNS}
${END_OTHERS}
echo $fired`;

/** As `END`, once the one that stays (`$2`) waits; says so, or nothing while it does not. */
export const PROVE = `${RUNS}
runs "$2.pid" && grep -q ${UNDO_NAME} "/proc/$pid/cmdline" || exit 0
${END_OTHERS}
echo waits`;
