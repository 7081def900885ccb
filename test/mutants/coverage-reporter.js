/**
 * A reporter of jest that writes, for each test file, how long it took and which lines of src it ran.
 *
 * It reads what jest itself collects with `--coverage --coverageProvider=v8`, before files are merged.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import v8ToIstanbul from 'v8-to-istanbul';

export default class CoverageReporter {
  specs = {};
  pending = [];

  onTestFileResult({ path }, result) {
    const { perfStats, v8Coverage = [], numFailingTests, failureMessage } = result;
    const spec = relative(process.cwd(), path);
    const entry = {
      seconds: perfStats.runtime / 1000,
      passed: numFailingTests === 0 && !failureMessage,
      lines: {},
    };
    this.specs[spec] = entry;
    for (const { result: script, codeTransformResult } of v8Coverage) {
      const file = relative(process.cwd(), script.url.replace(/^file:\/\//, ''));
      if (!file.startsWith('src/') || /[.]spec[.]ts$|\/testing\//.test(file)) continue;
      this.pending.push(
        this.read(script, codeTransformResult).then((lines) => {
          // a file may have been loaded several times, by tests that start over
          entry.lines[file] = [...new Set([...(entry.lines[file] ?? []), ...lines])];
        }),
      );
    }
  }

  async read({ url, functions }, { code, originalCode, sourceMapPath }) {
    const path = url.replace(/^file:\/\//, '');
    const sourcemap = JSON.parse(readFileSync(sourceMapPath, 'utf8'));
    const converter = v8ToIstanbul(path, 0, {
      source: code,
      originalSource: originalCode,
      sourceMap: { sourcemap: { file: path, ...sourcemap } },
    });
    await converter.load();
    converter.applyCoverage(functions);
    const [{ s, statementMap }] = Object.values(converter.toIstanbul());
    return Object.keys(s).flatMap((key) => (s[key] > 0 ? [statementMap[key].start.line] : []));
  }

  async onRunComplete() {
    await Promise.all(this.pending);
    writeFileSync(process.env.FABRICDRILL_COVERAGE_FILE, JSON.stringify(this.specs));
  }
}
