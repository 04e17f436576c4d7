import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const SRC = path.resolve(import.meta.dirname, '../..');

test('the SDK is loaded by the first server and by nothing else', () => {
  const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const loads = sources.flatMap((name) => {
    const source = readFileSync(path.join(SRC, name), 'utf8');
    const imports = source.match(/^(import|export)[^;]*?from '@modelcontextprotocol\/[^']*'/gms) ?? [];
    const loaded = imports.filter((text) => !/^(import|export) type /.test(text));
    return [...loaded, ...(source.match(/(?<!typeof )import\('@modelcontextprotocol\/[^']*'\)/g) ?? [])].map(
      () => name,
    );
  });
  expect(loads).toEqual([path.join('tools', 'mcp', 'sdk.ts')]);
});
