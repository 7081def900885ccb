/**
 * A parsed YAML document to plain values, in one pass over it.
 *
 * Aliases share the value of their anchor. What they stand for is counted, since whoever walks the value meets it again
 * for each alias: a few lines can amount to more than any memory holds. A repeated key and a key that is no text are
 * refused, each at its place.
 */
import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import type { InputIssue } from '../core/problem.js';
import { MOST_LEVELS } from './yaml-text.js';

/** Twice what a fabric has with as many links as a topology may have. */
const MOST_VALUES = 1_000_000;

/** A value, how many values it is made of, and how many levels deep it is. */
interface Counted {
  value: unknown;
  size: number;
  levels: number;
}

/** What is wrong and where in the text. */
type Fault = Pick<InputIssue, 'message' | 'hint'> & { offset: number };

const NOTHING: Counted = { value: null, size: 1, levels: 0 };

/** The value of a document's root, or what is wrong with it. */
export function plainValue(root: Node | null): { value: unknown; faults: Fault[] } {
  const reader = new Reader();
  return { value: reader.read(root).value, faults: reader.faults };
}

class Reader {
  readonly faults: Fault[] = [];
  private readonly anchors = new Map<string, Counted>();
  private expanded = false;

  read(node: Node | null): Counted {
    if (node === null) return NOTHING;
    if (isAlias(node)) return this.anchored(node.source, node);
    const counted = isMap(node)
      ? this.mapping(node)
      : isSeq(node)
        ? combined(
            node.items.map((item) => this.read(item as Node)),
            (items) => items,
          )
        : { value: isScalar(node) ? node.value : null, size: 1, levels: 0 };
    const { anchor } = node as { anchor?: string };
    if (anchor !== undefined) this.anchors.set(anchor, counted);
    if (counted.size > MOST_VALUES || counted.levels > MOST_LEVELS) return this.tooMuch(node);
    return counted;
  }

  private mapping(node: { items: { key: unknown; value: unknown }[] }): Counted {
    const entries = new Map<string, Counted>();
    for (const { key, value } of node.items) {
      const name = this.keyOf(key as Node | null);
      if (entries.has(name)) {
        this.faults.push({
          message: `the key ${name} is written twice in one mapping`,
          offset: offsetOf(key),
        });
      }
      entries.set(name, this.read(value as Node | null));
    }
    const names = [...entries.keys()];
    return combined([...entries.values()], (values) => {
      const made: Record<string, unknown> = {};
      names.forEach((name, index) => define(made, name, values[index]));
      return made;
    });
  }

  private keyOf(key: Node | null): string {
    const { value } = this.read(key);
    if (value === null) return '';
    if (typeof value !== 'object') return `${value as string | number | boolean}`;
    this.faults.push({ message: 'a key must be a text, not a list or a mapping', offset: offsetOf(key) });
    return '';
  }

  private anchored(name: string, node: Node): Counted {
    const found = this.anchors.get(name);
    if (found !== undefined) return found;
    this.faults.push({
      message: `the alias *${name} has no anchor &${name} before it`,
      offset: offsetOf(node),
    });
    return NOTHING;
  }

  /** Told once: what holds it is too much as well. */
  private tooMuch(node: Node): Counted {
    if (!this.expanded) {
      const message = `aliases in this YAML can't be expanded: they stand for more than ${MOST_VALUES} values or ${MOST_LEVELS} levels`;
      this.faults.push({ message, offset: offsetOf(node) });
    }
    this.expanded = true;
    return NOTHING;
  }
}

function combined(parts: readonly Counted[], make: (values: unknown[]) => unknown): Counted {
  let size = 1;
  let levels = 0;
  for (const part of parts) {
    size += part.size;
    levels = Math.max(levels, part.levels);
  }
  return { value: make(parts.map(({ value }) => value)), size, levels: levels + 1 };
}

/** As an own property, whatever its name. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (!(name in object)) object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

const offsetOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0;
