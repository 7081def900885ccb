/** What a document and the server's settings say of one Prometheus, for specs that need no document. */
import { prometheusSchema, type PrometheusSettings } from '../../../fabric-api/prometheus-settings.js';
import { serverSettingsSchema, type ServerSettings } from '../../../fabric-api/server-settings.js';

type Parts = Readonly<Record<string, unknown>>;

export const siteServer = (entry: Parts): ServerSettings =>
  serverSettingsSchema.parse({ prometheus: { site: entry } });

/** @param all keys of both */
export function prometheusSettings({ url, authorization, timeout, ...spec }: Parts): PrometheusSettings {
  const entry = Object.entries({ url, authorization, timeout }).filter(([, value]) => value !== undefined);
  const { server, ...own } = prometheusSchema.parse({ server: 'site', ...spec });
  return { ...own, ...siteServer(Object.fromEntries(entry)).prometheus[server] };
}
