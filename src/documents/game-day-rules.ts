/**
 * What the shape of a game day's file does not say: stages that wait in a circle, conditions on what comes later, and
 * blind days whose public texts give away what is going to be injected.
 *
 * Whether a text is telling is judged by names: those of fault kinds, however they are written together, and as words those
 * of the day's own experiments. A hint that people would read out of other words is not found.
 */
import { FAULT_KINDS } from '../faults/catalog.js';
import { contradictionIssue } from '../scoring/contradiction.js';
import { parseObjective, parseObjectives } from '../scoring/objectives.js';
import { listChoices, nearestHint } from '../core/nearest.js';
import { InputError, type InputIssue } from '../core/problem.js';
import { labelOf, waitsFor, type GameDay, type GameDaySpec, type StageSpec } from './game-day.js';

/** @throws InputError with every mistake, at its place in the document */
export function checkGameDay({ metadata, spec }: GameDay): void {
  const issues = [
    ...repeated(spec),
    ...repeatedPeople(spec),
    ...expressions(spec),
    ...unknownStages(spec),
    ...(spec.blind ? telling(metadata.name, spec) : []),
  ];
  if (issues.length === 0) issues.push(...circles(spec.stages));
  if (issues.length === 0) issues.push(...conditions(spec.stages), ...contradictions(spec.stages));
  if (issues.length > 0) throw new InputError(issues);
}

function repeated({ stages }: GameDaySpec): InputIssue[] {
  const names = stages.map(({ name }) => name);
  const issues = names.flatMap((name, at): InputIssue[] =>
    names.indexOf(name) === at
      ? []
      : [{ pointer: `/spec/stages/${at}/name`, message: `an earlier stage is named "${name}" too` }],
  );
  for (const [at, { experiments }] of stages.entries()) {
    const labels = experiments.map(labelOf);
    for (const [index, label] of labels.entries()) {
      if (labels.indexOf(label) === index) continue;
      issues.push({
        pointer: `/spec/stages/${at}/experiments/${index}`,
        message: `the stage has "${label}" already`,
        hint: 'give each a name of its own',
      });
    }
  }
  return issues;
}

function repeatedPeople({ roles }: GameDaySpec): InputIssue[] {
  const names = roles.map(({ role }) => role);
  return roles.flatMap(({ role, people }, at): InputIssue[] => {
    if (names.indexOf(role) !== at) {
      const message = `an earlier role is "${role}" too`;
      return [{ pointer: `/spec/roles/${at}/role`, message, hint: 'a role may have several people' }];
    }
    return people.flatMap((person, index): InputIssue[] =>
      people.indexOf(person) === index
        ? []
        : [{ pointer: `/spec/roles/${at}/people/${index}`, message: `"${person}" has this role already` }],
    );
  });
}

const issuesOf = (step: () => unknown): InputIssue[] => {
  try {
    step();
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return [...error.issues];
  }
};

/** Figures that do not exist. */
const expressions = ({ stages }: GameDaySpec): InputIssue[] =>
  stages.flatMap(({ when, experiments }, at) => [
    ...when.flatMap(({ expression }, index) =>
      issuesOf(() => parseObjective(expression, `/spec/stages/${at}/when/${index}/expression`)),
    ),
    ...experiments.flatMap(({ hypothesis }, index) =>
      issuesOf(() =>
        parseObjectives(hypothesis.expect, `/spec/stages/${at}/experiments/${index}/hypothesis/expect`),
      ),
    ),
  ]);

function unknownStages({ stages }: GameDaySpec): InputIssue[] {
  const names = stages.map(({ name }) => name);
  const unknown = (pointer: string, name: string): InputIssue[] => {
    if (names.includes(name)) return [];
    const hint = nearestHint(name, names);
    const message = `there is no stage "${name}"; there are ${listChoices(names)}`;
    return [{ pointer, message, ...(hint === undefined ? {} : { hint }) }];
  };
  return stages.flatMap(({ after = [], when }, at) => [
    ...after.flatMap((name, index) =>
      after.indexOf(name) === index
        ? unknown(`/spec/stages/${at}/after/${index}`, name)
        : [{ pointer: `/spec/stages/${at}/after/${index}`, message: `"${name}" is named twice` }],
    ),
    ...when.flatMap(({ stage }, index) => unknown(`/spec/stages/${at}/when/${index}/stage`, stage)),
  ]);
}

/** All stages that have ended when this one begins; undefined where it would wait for itself. */
function earlierStages(stages: readonly StageSpec[], at: number): ReadonlySet<string> | undefined {
  const found = new Set<string>();
  const open = [...waitsFor(stages, at)];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    open.push(
      ...waitsFor(
        stages,
        stages.findIndex((stage) => stage.name === name),
      ),
    );
  }
  return found.has(stages[at].name) ? undefined : found;
}

const circles = (stages: readonly StageSpec[]): InputIssue[] =>
  stages.flatMap((stage, at): InputIssue[] =>
    earlierStages(stages, at) === undefined
      ? [
          {
            pointer: `/spec/stages/${at}${stage.after === undefined ? '' : '/after'}`,
            message: `"${stage.name}" would wait for itself`,
            hint: 'a stage without after waits for the one before it; after: [] begins at once',
          },
        ]
      : [],
  );

function conditions(stages: readonly StageSpec[]): InputIssue[] {
  return stages.flatMap(({ name, when }, at) =>
    when.flatMap((condition, index): InputIssue[] => {
      const pointer = `/spec/stages/${at}/when/${index}`;
      const earlier = earlierStages(stages, at)!;
      if (!earlier.has(condition.stage)) {
        const message = `"${condition.stage}" need not have ended when "${name}" begins`;
        const there = earlier.size === 0 ? 'no stage has' : `${listChoices([...earlier])} have`;
        return [{ pointer: `${pointer}/stage`, message, hint: `${there}; or name it in after` }];
      }
      const labels = stages.find((stage) => stage.name === condition.stage)!.experiments.map(labelOf);
      if (condition.experiment === undefined || labels.includes(condition.experiment)) return [];
      const message = `"${condition.stage}" has no experiment "${condition.experiment}"; it has ${listChoices(labels)}`;
      const hint = nearestHint(condition.experiment, labels);
      return [{ pointer: `${pointer}/experiment`, message, ...(hint === undefined ? {} : { hint }) }];
    }),
  );
}

/** Conditions and expectations that no figure could meet together. */
const contradictions = (stages: readonly StageSpec[]): InputIssue[] =>
  stages.flatMap(({ when, experiments }, at) => [
    ...contradictoryConditions(when, `/spec/stages/${at}/when`),
    ...experiments.flatMap(({ hypothesis }, index) =>
      contradictionIssue(
        hypothesis.expect.map((expression, place) => ({
          expression,
          pointer: `/spec/stages/${at}/experiments/${index}/hypothesis/expect/${place}`,
        })),
      ),
    ),
  ]);

/** What is said of a stage is said of each of its experiments. */
function contradictoryConditions(when: StageSpec['when'], pointer: string): InputIssue[] {
  const placed = when.map((condition, index) => ({
    ...condition,
    pointer: `${pointer}/${index}/expression`,
  }));
  const subjects = new Map(placed.map((one) => [`${one.stage} ${one.experiment ?? ''}`, one]));
  const issues = [...subjects.values()].flatMap(({ stage, experiment }) =>
    contradictionIssue(
      placed.filter(
        (one) => one.stage === stage && (one.experiment === undefined || one.experiment === experiment),
      ),
    ),
  );
  return issues.filter(({ pointer: place }, at) => issues.findIndex((one) => one.pointer === place) === at);
}

/**
 * A text that anybody can read while a blind day is under way, such as the name of a fabric or of the schedule that begins it.
 * @returns one issue when it names a fault kind or an experiment of the day
 */
export function tellingText({ stages }: GameDaySpec, pointer: string, text: string): InputIssue[] {
  const plain = plainWords(text);
  const letters = lettersOf(text);
  const found =
    FAULT_KINDS.map(({ name }) => name).find((kind) => letters.includes(lettersOf(kind))) ??
    stages
      .flatMap(({ experiments }) => experiments.map(({ experiment }) => labelOf({ experiment })))
      .find((word) => plain.includes(plainWords(word)));
  if (found === undefined) return [];
  const message = `the day is blind, and this text, which everybody sees, says "${found}"`;
  return [{ pointer, message, hint: 'use a word that tells nothing, or blind: false' }];
}

/** What anybody can read of the document while a blind day is under way. */
function telling(dayName: string, spec: GameDaySpec): InputIssue[] {
  const { stages, roles } = spec;
  const issues: InputIssue[] = [];
  const look = (pointer: string, text: string): void => {
    issues.push(...tellingText(spec, pointer, text));
  };
  look('/metadata/name', dayName);
  for (const [at, { role, people }] of roles.entries())
    look(`/spec/roles/${at}`, [role, ...people].join(' '));
  for (const [at, { name, pause, when }] of stages.entries()) {
    look(`/spec/stages/${at}/name`, name);
    if (pause !== undefined) look(`/spec/stages/${at}/pause`, pause);
    if (when.length === 0) continue;
    issues.push({
      pointer: `/spec/stages/${at}/when`,
      message: 'the day is blind, and whether a stage is skipped would tell how another went',
      hint: 'leave when out: a pause lets people decide',
    });
  }
  return issues;
}

/** In small letters, between single blanks. */
const plainWords = (text: string): string =>
  ` ${text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .join(' ')
    .trim()} `;

/** What is left of a text without blanks, hyphens and capitals: `linkdown` of LinkDown and of link_down. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '');
