/** The contract of a format of documents. */
import type { ReportDocument } from './document.js';

export interface DocumentFormat {
  /** As in `--output` and `?format=`. */
  name: string;
  mediaType: string;
  render(document: ReportDocument): string;
}
