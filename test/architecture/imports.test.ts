/** Walks every import of src/ and keeps the direction of ARCHITECTURE.md true. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const SRC = path.resolve(import.meta.dirname, '../../src');

/** Folders by layer, lowest first. A folder may import lower layers, and what is listed for it in its own. */
const LAYERS: readonly (readonly string[])[] = [
  ['protocol', 'lib'],
  ['policy'],
  ['process', 'hooks', 'config', 'store', 'model', 'context'],
  ['sandbox'],
  ['approvals', 'orchestrator', 'tools'],
  ['turn', 'thread'],
  ['engine'],
  ['app-server', 'cli', 'tui', 'client', 'web'],
];
const WITHIN: Readonly<Record<string, readonly string[]>> = {
  orchestrator: ['approvals'],
  tools: ['orchestrator', 'approvals'],
  thread: ['turn'],
  protocol: [],
  lib: [],
};
/** Front-ends see the engine's door and the protocol; the command line also opens these for its own subcommands. */
const FRONT_END: readonly string[] = ['protocol', 'lib', 'engine'];
const CLI_EXTRA: readonly string[] = ['policy', 'sandbox', 'app-server'];

/** A folder's doors. The policy has a second one, so that the first loads without Node. */
function isDoor([folder, file, ...deeper]: readonly string[]): boolean {
  return deeper.length === 0 && (file === 'index.js' || (folder === 'policy' && file === 'node.js'));
}

interface Import {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Path behind the folder's door, when it is not the door. */
  readonly behind: string | undefined;
}

function importsOf(file: string): Import[] {
  const source = readFileSync(file, 'utf8');
  const from = path.relative(SRC, file).split(path.sep)[0]!;
  const specifiers = [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1]!);
  return specifiers.flatMap((specifier) => {
    const target = path.relative(SRC, path.resolve(path.dirname(file), specifier)).split(path.sep);
    const to = target[0]!;
    if (to === from || to === '..') return [];
    return [
      {
        file: path.relative(SRC, file),
        from,
        to,
        behind: isDoor(target) ? undefined : target.slice(1).join('/'),
      },
    ];
  });
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => path.join(SRC, name));
const imports = files.flatMap(importsOf).filter((one) => one.from !== 'testing');

function mayImport({ from, to }: Import): boolean {
  if (LAYERS.at(-1)!.includes(from)) return FRONT_END.includes(to) || (from === 'cli' && CLI_EXTRA.includes(to));
  const layer = (folder: string) => LAYERS.findIndex((folders) => folders.includes(folder));
  return (layer(to) >= 0 && layer(to) < layer(from)) || (WITHIN[from] ?? []).includes(to);
}

test('every folder of src/ has a layer', () => {
  const folders = readdirSync(SRC).filter((folder) => !folder.includes('.'));
  expect(folders.filter((folder) => folder !== 'testing' && !LAYERS.flat().includes(folder))).toEqual([]);
});

test('imports point down', () => {
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter((one) => !mayImport(one)).map((one) => `${one.file} → ${one.to}`)).toEqual([]);
});

test("a folder's index.ts is its only door", () => {
  expect(
    imports.filter((one) => one.behind !== undefined).map((one) => `${one.file} → ${one.to}/${one.behind}`),
  ).toEqual([]);
});

test('the turn machine loads alone: protocol and lib are all it needs', () => {
  const machine = imports.filter((one) => one.file === 'turn/machine.ts' || one.file === 'turn/follow-up.ts');
  expect(machine.map((one) => one.to).filter((to) => to !== 'protocol' && to !== 'lib')).toEqual([]);
});

test('no default exports, no export *', () => {
  const offenders = files.filter((file) => /^export (default|\*)/m.test(readFileSync(file, 'utf8')));
  expect(offenders.map((file) => path.relative(SRC, file))).toEqual([]);
});
