// Builds dist/: one split ESM bundle for the command line and the library doors, and type declarations beside it.
// In an installed package (no sources) there is nothing to build.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
if (!existsSync('src')) process.exit(0);

const { build } = await import('esbuild');
const pkg = JSON.parse(readFileSync('package.json', 'utf8'));
const doors = ['engine', 'policy', 'sandbox', 'protocol', 'client', 'testing', 'cli'].filter((door) =>
  existsSync(`src/${door}/index.ts`),
);
// Built aside and swapped in, so that a program that runs meanwhile finds a whole dist/. `--out DIR` builds elsewhere.
const wanted = process.argv.indexOf('--out');
const out = wanted > 0 ? process.argv[wanted + 1] : `dist.${process.pid}`;
await build({
  entryPoints: Object.fromEntries(doors.map((door) => [door, `src/${door}/index.ts`])),
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: false,
  legalComments: 'none',
  define: { TURNWRIGHT_VERSION: JSON.stringify(pkg.version) },
  // Native and optional parts stay outside; everything else is bundled so that start-up reads few files.
  external: Object.keys(pkg.optionalDependencies ?? {}),
  banner: {
    js: "import { createRequire as __twRequire } from 'node:module'; const require = __twRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
let status = 0;
if (!process.argv.includes('--no-types')) {
  const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json', '--outDir', `${out}/types`];
  status = spawnSync(process.execPath, tsc, { stdio: 'inherit' }).status ?? 1;
}
if (wanted < 0) swapIn(out);
process.exit(status);

function swapIn(built) {
  const old = `${built}.old`;
  if (existsSync('dist')) renameSync('dist', old);
  renameSync(built, 'dist');
  rmSync(old, { recursive: true, force: true });
}
