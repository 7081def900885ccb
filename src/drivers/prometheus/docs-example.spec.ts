import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { fabricSpecSchema } from '../../fabric-api/definition.js';
import { prometheusDriver } from './driver.js';

it('the site in docs/real-fabrics.md is a fabric', async () => {
  const page = readFileSync(new URL('../../../docs/real-fabrics.md', import.meta.url), 'utf8');
  const [, text] = /```yaml\n([\s\S]+?driver: prometheus[\s\S]+?)```/.exec(page)!;
  const { metadata, spec } = parse(text) as { metadata: { name: string }; spec: { prometheus: object } };
  const parsed = fabricSpecSchema.parse({
    ...spec,
    prometheus: { ...spec.prometheus, authorization: undefined },
  });
  const fabric = await prometheusDriver.create({ name: metadata.name, spec: parsed }, 1);
  expect(fabric.describe().jobs.map(({ name }) => name)).toEqual(['llm']);
});
