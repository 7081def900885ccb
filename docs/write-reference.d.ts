/** Types of docs/write-reference.js, which its spec calls. */
export const PAGES: readonly string[];
export function renderPage(page: string, text: string, sources: Record<string, unknown>): string;
