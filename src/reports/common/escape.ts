/**
 * Escaping for the formats: names come from imported files and devices, answers from a diagnoser, and none of it may
 * break a terminal, a table or an XML parser.
 *
 * Sources: XML 1.0 fifth edition sections 2.2 (characters) and 3.3.3 (attribute normalisation); the C0 and C1
 * control sets of ECMA-48, which terminals obey; GitHub-flavoured Markdown 0.29, section 2.4 and tables.
 */

const REPLACEMENT = '\uFFFD';

// A lone surrogate has no UTF-8 form, so it could not even be written to a file.
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
// eslint-disable-next-line no-control-regex -- control characters are what this is about
const XML_FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;
// eslint-disable-next-line no-control-regex -- as above; U+202A.. and U+2066.. reorder what a reader sees
const TERMINAL_FORBIDDEN = /[\u0000-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;

const wellFormed = (text: string): string => text.replace(LONE_SURROGATE, REPLACEMENT);

/** Text for a terminal line: control characters shown as `\x1b`, blanks and line ends as one blank. */
export function terminalText(text: string): string {
  return wellFormed(text)
    .replace(/[\t\r\n]+/g, ' ')
    .replace(TERMINAL_FORBIDDEN, (character) => {
      const code = character.charCodeAt(0);
      return code < 256
        ? `\\x${code.toString(16).padStart(2, '0')}`
        : `\\u${code.toString(16).padStart(4, '0')}`;
    });
}

/** Character data and attribute values for XML 1.0. Characters that XML can't hold become U+FFFD. */
export function xmlText(text: string): string {
  return wellFormed(text)
    .replace(XML_FORBIDDEN, REPLACEMENT)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
    .replaceAll('\r', '&#13;');
}

/** As xmlText; line ends and tabs too, since a parser would turn them into blanks. */
export const xmlAttribute = (text: string): string =>
  xmlText(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');

/** Inline Markdown that reads as written, also in a table cell; an underscore inside a word marks nothing up. */
export function markdownText(text: string): string {
  return terminalText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(
      /[\\`*[\]#|~$@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g,
      (character) => `&#${character.charCodeAt(0)};`,
    );
}

/** Inline code, also inside a table cell; HTML, because back ticks and pipes can't be escaped in Markdown's own. */
export const markdownCode = (text: string): string => `<code>${markdownText(text)}</code>`;
