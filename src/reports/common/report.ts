/**
 * The contract of a renderer: scorecard in, text out, nothing else looked at.
 *
 * A renderer is pure: the caller says whether colour is wanted and which command replays the run, since only the
 * caller knows its terminal and the path of the experiment file. Text that comes from files, devices or a diagnoser
 * is hostile to the format until the renderer has escaped it.
 */
import type { Scorecard } from '../../scoring/scorecard.js';

export interface ReportOptions {
  /** ANSI colour, for the text format only. */
  colour?: boolean;
  /** Columns of the text format, 60 to 100; 100 unless given. */
  width?: number;
  /** The one command that replays this run; made from the run's names when the caller has no better one. */
  reproduceCommand?: string;
}

export interface ReportFormat {
  /** As `--output` takes it. */
  name: string;
  /** Without the dot. */
  extension: string;
  mediaType: string;
  summary: string;
  render(scorecard: Scorecard, options?: ReportOptions): string;
}

/** Quotes one argument for a POSIX shell, for showing only: nothing here is ever executed. */
export function quoteArgument(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,#-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The command that replays a run from its file with the same seed. */
export function reproduceCommand(run: { file: string; fabric?: string; seed: number }): string {
  const fabric = run.fabric === undefined ? [] : ['--fabric', quoteArgument(run.fabric)];
  return ['fabricdrill', 'run', quoteArgument(run.file), ...fabric, '--seed', String(run.seed)].join(' ');
}
