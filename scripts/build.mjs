// Builds dist/: a split ESM bundle for the library doors, one CommonJS file for the command line (it starts faster) with
// its compiled code, and type declarations.
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
const doors = ['engine', 'policy', 'sandbox', 'protocol', 'client', 'testing'].filter((door) =>
  existsSync(`src/${door}/index.ts`),
);
// Built aside and swapped in, so that a program that runs meanwhile finds a whole dist/. `--out DIR` builds elsewhere.
const wanted = process.argv.indexOf('--out');
const out = wanted > 0 ? process.argv[wanted + 1] : `dist.${process.pid}`;
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  sourcemap: false,
  legalComments: 'none',
  // Native and optional parts stay outside; everything else is bundled so that start-up reads few files.
  external: Object.keys(pkg.optionalDependencies ?? {}),
  logLevel: 'warning',
};
const version = { TURNWRIGHT_VERSION: JSON.stringify(pkg.version) };
await build({
  ...common,
  entryPoints: Object.fromEntries(doors.map((door) => [door, `src/${door}/index.ts`])),
  outdir: out,
  splitting: true,
  format: 'esm',
  define: version,
  banner: {
    js: "import { createRequire as __twRequire } from 'node:module'; const require = __twRequire(import.meta.url);",
  },
});
// Names stay, so that a stack says where it was; without the blanks there is less to read at every start.
const commonJs = { ...common, outdir: out, outExtension: { '.js': '.cjs' }, format: 'cjs', minifyWhitespace: true };
// Half of the bundle, and few sessions need it.
const mcpClient = '@modelcontextprotocol/client';
await build({ ...commonJs, entryPoints: { 'mcp-client': mcpClient } });
await build({
  ...commonJs,
  entryPoints: { cli: 'src/cli/index.ts' },
  supported: { 'dynamic-import': false }, // scripts with code compiled before cannot import
  define: { ...version, 'import.meta.url': '__filename' },
  plugins: [
    {
      name: 'mcp-client',
      setup: ({ onResolve }) =>
        onResolve({ filter: new RegExp(`^${mcpClient}$`) }, () => ({ path: './mcp-client.cjs', external: true })),
    },
  ],
});
const cli = `${out}/cli.cjs`;
const compiled = ['scripts/compile.cjs', cli, `${cli}.${process.version}-${process.arch}`];
// Without it the program only starts more slowly.
spawnSync(process.execPath, compiled, { stdio: 'ignore', timeout: 60_000 });
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
