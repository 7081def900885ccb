/**
 * A report for people as plain parts (texts, tables, lists, one picture), so that each format renders the same content.
 */
import type { TimelinePicture } from './timeline-svg.js';

export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'table'; head: readonly string[]; rows: readonly (readonly string[])[] }
  | { kind: 'list'; items: readonly string[] }
  /** Things to do, or done. */
  | { kind: 'tasks'; items: readonly { text: string; done: boolean }[] }
  /** Left out where a format has no pictures. */
  | { kind: 'timeline'; picture: TimelinePicture };

export interface Section {
  /** Null for what stands below the document's title. */
  title: string | null;
  blocks: readonly Block[];
}

export interface ReportDocument {
  title: string;
  sections: readonly Section[];
}
