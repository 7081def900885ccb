export interface Mutant {
  start: number;
  end: number;
  line: number;
  operator: string;
  text: string;
}
export function mutantsOf(file: string, source: string): Mutant[];
