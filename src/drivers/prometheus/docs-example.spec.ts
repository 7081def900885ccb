import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { fabricSpecSchema } from '../../fabric-api/definition.js';
import { serverSettingsSchema } from '../../fabric-api/server-settings.js';
import { prometheusDriver } from './driver.js';

it('the site in docs/real-fabrics.md is a fabric, with the server’s settings beside it', async () => {
  const page = readFileSync(new URL('../../../docs/real-fabrics.md', import.meta.url), 'utf8');
  const [, text] = /```yaml\n([^`]+?driver: prometheus[^`]+?)```/.exec(page)!;
  const [, settingsText] = /```yaml\n([^`]+?prometheus:\n  site:[^`]+?)```/.exec(page)!;
  const { metadata, spec } = parse(text) as { metadata: { name: string }; spec: unknown };
  const settings = serverSettingsSchema.parse(parse(settingsText));
  const { site } = settings.prometheus;
  expect(site.authorization?.env).toBe('PROMETHEUS_TOKEN');
  const open = { ...settings, prometheus: { site: { ...site, authorization: undefined } } };
  const definition = { name: metadata.name, spec: fabricSpecSchema.parse(spec) };
  const fabric = await prometheusDriver.create(definition, 1, undefined, open);
  expect(fabric.describe().jobs.map(({ name }) => name)).toEqual(['llm']);
});
