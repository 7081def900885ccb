import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { orchestratorSchema } from '../../../fabric-api/orchestrator-settings.js';

it('the orchestrator in docs/real-fabrics.md is one', () => {
  const page = readFileSync(new URL('../../../../docs/real-fabrics.md', import.meta.url), 'utf8');
  const [, text] = /```yaml\n([^`]+?orchestrator:[^`]+?)```/.exec(page)!;
  const { spec } = parse(text) as { spec: { orchestrator: unknown } };
  expect(orchestratorSchema.parse(spec.orchestrator)).toMatchObject({
    slurm: 'training',
    partition: 'training',
    nodes: { 'host-1': 'h1' },
    startWithin: 60e9,
  });
});
