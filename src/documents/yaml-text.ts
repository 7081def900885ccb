/**
 * YAML text to the parser's documents, within bounds that are checked while the text is read.
 *
 * Whoever sends a text must not hold this process: what is beyond a bound is refused as soon as it is met, before
 * values are made of it. The library's own check for repeated keys is off, since its time grows with the square of a
 * mapping; plain-value.ts makes it. No definition of ours comes near a bound.
 */
import { Composer, Lexer, LineCounter, Parser, type CST, type Document } from 'yaml';
import { InputError } from '../core/problem.js';

const MOST_CHARACTERS = 16 * 1024 * 1024;
/** A fabric with as many links as a topology may have, written as JSON, takes 1.8 million. */
const MOST_TOKENS = 2_000_000;
export const MOST_LEVELS = 100;
const MOST_KEYS = 2000;
const MOST_DOCUMENTS = 1000;

export interface ParsedText {
  documents: Document.Parsed[];
  position: (offset: number) => { line: number; column: number };
}

/**
 * Syntax errors stay in the documents.
 * @throws InputError with the line at which a bound is passed
 */
export function parseYaml(text: string, file?: string): ParsedText {
  if (text.length > MOST_CHARACTERS) {
    const message = `the text is larger than ${MOST_CHARACTERS} bytes`;
    throw new InputError([{ pointer: '', message, file }]);
  }
  const lineCounter = new LineCounter();
  lineCounter.addNewLine(0);
  const position = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  const refuse = (offset: number, message: string): never => {
    throw new InputError([{ pointer: '', message, file, ...position(offset) }]);
  };
  // the core schema whatever a %YAML directive says: keys such as "on" must stay text
  const composer = new Composer({ schema: 'core', uniqueKeys: false, prettyErrors: false });
  const documents = [...composer.compose(boundedTokens(text, new Parser(lineCounter.addNewLine), refuse))];
  return { documents, position };
}

/** What the library's `Parser.parse` does, with a look at how far it has come after each token. */
function* boundedTokens(
  text: string,
  parser: Parser,
  refuse: (offset: number, message: string) => never,
): Generator<CST.Token> {
  let tokens = 0;
  let documents = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === 'document' && ++documents > MOST_DOCUMENTS) {
        refuse(token.offset, `the text has more than ${MOST_DOCUMENTS} documents`);
      }
      yield token;
    }
    if (++tokens > MOST_TOKENS) {
      refuse(parser.offset, `the text has more than ${MOST_TOKENS} keys, values and marks`);
    }
    // the first level is the document
    if (parser.stack.length > MOST_LEVELS + 2) {
      refuse(parser.offset, `the document is nested more than ${MOST_LEVELS} levels deep`);
    }
    const open = parser.stack.at(-1);
    if (open !== undefined && isMapping(open) && open.items.length > MOST_KEYS) {
      refuse(parser.offset, `a mapping has more than ${MOST_KEYS} keys`);
    }
  }
  yield* parser.end();
}

const isMapping = (token: CST.Token): token is CST.BlockMap | CST.FlowCollection =>
  token.type === 'block-map' || (token.type === 'flow-collection' && token.start.source === '{');
