/**
 * Loads the configuration of one session: finds the layers, lays them over one another, checks the result and gives it
 * types. Every effective value knows which layer it came from.
 */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { TurnwrightError } from '../protocol/index.js';
import { type Config, readConfig } from './config.js';
import { type Environment, findHomeFile, type Homes, resolveHomes } from './homes.js';
import { CONFIG_SHAPE } from './keys.js';
import {
  type ConfigLayer,
  dottedKey,
  type MergedConfig,
  mergeLayers,
  mergeTables,
  originOf,
  type Table,
} from './layers.js';
import { parseOverrides } from './overrides.js';
import { isReservedProvider } from './providers.js';
import { checkShape, isTable, type Problem } from './shape.js';
import { readTomlFile } from './toml-file.js';
import { foldersFromRoot, type Project, resolveTrust } from './trust.js';

export interface ConfigRequest {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Environment;
  /** `-c key=value`, in order. */
  readonly overrides?: readonly string[];
  readonly profile?: string;
  /** What dedicated flags say, as a table; wins over `overrides`. */
  readonly flags?: Table;
  /** Unknown keys are errors. */
  readonly strict?: boolean;
  /** Leave out the user's `config.toml`. */
  readonly ignoreUser?: boolean;
  /** For tests: instead of `/etc`. */
  readonly systemFolder?: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly merged: MergedConfig;
  /** Highest first, disabled ones included. */
  readonly layers: readonly ConfigLayer[];
  readonly warnings: readonly string[];
  readonly homes: Homes;
  readonly project: Project;
  /** What an administrator demands (`requirements.toml` of the system folders): it constrains, whatever configuration says. */
  readonly requirements: readonly { readonly file: string; readonly table: Table }[];
}

/** Throws `TW_CONFIG_READ`, `TW_CONFIG_PARSE` or `TW_CONFIG_VALUE`. */
export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const homes = resolveHomes(request.env);
  const warnings: string[] = [];
  const flags: ConfigLayer = {
    name: 'flags',
    table: mergeTables(parseOverrides(request.overrides ?? []), request.flags ?? {}),
  };
  const user = request.ignoreUser ? [] : await userLayers(homes, request, flags, warnings);
  const folder = request.systemFolder ?? '/etc';
  const system = await fileLayers('system', systemFiles(folder, 'config.toml'));
  const demands = await fileLayers('system', systemFiles(folder, 'requirements.toml'));
  const personal = [flags, ...user, ...system];
  const project = await resolveTrust(request.cwd, mergeLayers(personal).table);
  const own = await projectLayers(project, request.cwd, user, warnings);
  const layers = [flags, ...own, ...user, ...system];
  const merged = mergeLayers(layers);
  judge(merged, request.strict === true, warnings);
  const requirements = demands.map(({ path: file, table }) => ({ file: file!, table }));
  return { config: readConfig(merged.table), merged, layers, warnings, homes, project, requirements };
}

function systemFiles(folder: string, file: string): readonly string[] {
  return ['turnwright', 'codex'].map((name) => path.join(folder, name, file));
}

async function fileLayers(name: ConfigLayer['name'], files: readonly string[]): Promise<ConfigLayer[]> {
  const layers: ConfigLayer[] = [];
  for (const file of files) {
    const table = await readTomlFile(file);
    if (table) layers.push({ name, path: file, table });
  }
  return layers;
}

async function userLayers(
  homes: Homes,
  request: ConfigRequest,
  flags: ConfigLayer,
  warnings: string[],
): Promise<readonly ConfigLayer[]> {
  const file = await findHomeFile(homes, 'config.toml');
  const user = file === undefined ? [] : await fileLayers('user', [file]);
  const table = user[0]?.table ?? {};
  const named = request.profile ?? flags.table['profile'] ?? table['profile'];
  if (typeof named !== 'string') return user;
  return [await profileLayer(named, homes, mergeTables(table, flags.table), warnings), ...user];
}

async function profileLayer(name: string, homes: Homes, table: Table, warnings: string[]): Promise<ConfigLayer> {
  if (!/^[\w.-]+$/.test(name) || name.startsWith('.'))
    throw new TurnwrightError(
      'TW_CONFIG_VALUE',
      `profile ${JSON.stringify(name)}: a profile name has only letters, digits, - and _`,
    );
  const file = await findHomeFile(homes, `${name}.config.toml`);
  if (file !== undefined) return { name: 'profile', path: file, table: (await readTomlFile(file)) ?? {} };
  const legacy = isTable(table['profiles']) ? table['profiles'][name] : undefined;
  const wanted = path.join(homes.own, `${name}.config.toml`);
  if (!isTable(legacy))
    throw new TurnwrightError('TW_CONFIG_VALUE', `there is no profile "${name}"; create ${wanted}`, {
      facts: { name },
    });
  warnings.push(`[profiles.${name}] is deprecated; move its keys to ${wanted}`);
  return { name: 'profile', table: legacy };
}

/** Nearest folder first, `.turnwright` before `.codex`. A user's own file is never also a project's. */
async function projectLayers(
  project: Project,
  cwd: string,
  user: readonly ConfigLayer[],
  warnings: string[],
): Promise<readonly ConfigLayer[]> {
  const files = foldersFromRoot(project.root, cwd)
    .toReversed()
    .flatMap((folder) => ['.turnwright', '.codex'].map((name) => path.join(folder, name, 'config.toml')));
  const taken = new Set(
    await Promise.all(user.map((layer) => layer.path && realpath(layer.path).catch(() => layer.path))),
  );
  const layers: ConfigLayer[] = [];
  for (const file of files) {
    if (taken.has(await realpath(file).catch(() => file))) continue;
    layers.push(...(await projectLayer(file, project, warnings)));
  }
  return layers;
}

/** A file of a project nobody trusts is not even parsed: it can neither act nor stop us. */
async function projectLayer(file: string, project: Project, warnings: string[]): Promise<readonly ConfigLayer[]> {
  if (project.trust !== 'trusted') {
    if ((await realpath(file).catch(() => undefined)) === undefined) return [];
    return [{ name: 'project', path: file, table: {}, disabledReason: `the project ${project.root} is not trusted` }];
  }
  const table = await readTomlFile(file);
  if (!table) return [];
  const { projects, profile, profiles, ...rest } = table;
  for (const [key, value] of Object.entries({ projects, profile, profiles }))
    if (value !== undefined) warnings.push(`${file}: ${key} is ignored in a project's configuration`);
  return [{ name: 'project', path: file, table: rest }];
}

/** Throws for the first wrong value; unknown keys become warnings, or an error when strict. */
function judge(merged: MergedConfig, strict: boolean, warnings: string[]): void {
  const problems = [...checkShape(merged.table, CONFIG_SHAPE), ...providerProblems(merged.table)];
  const unknown = problems.filter((problem) => problem.kind === 'unknown');
  if (strict && unknown[0]) throw new TurnwrightError('TW_CONFIG_VALUE', unknownMessage(unknown[0], merged));
  const wrong = problems.find((problem) => problem.kind === 'value');
  if (wrong) throw valueError(wrong, merged);
  for (const problem of unknown)
    if (originOf(merged, problem.path)?.name !== 'flags') warnings.push(unknownMessage(problem, merged));
  if (merged.table['approval_policy'] === 'on-failure')
    warnings.push('approval_policy = "on-failure" is deprecated and means "on-request"');
}

function providerProblems(table: Table): Problem[] {
  const configured = isTable(table['model_providers']) ? table['model_providers'] : {};
  const problems: Problem[] = Object.keys(configured)
    .filter(isReservedProvider)
    .map((id) => ({
      kind: 'value',
      path: ['model_providers', id],
      got: id,
      allowed:
        'a name of its own: built-in providers cannot be redefined (openai_base_url moves the address of openai)',
    }));
  const chosen = table['model_provider'];
  const entry = typeof chosen === 'string' ? configured[chosen] : undefined;
  if (isTable(entry) && entry['base_url'] === undefined)
    problems.push({
      kind: 'value',
      path: ['model_providers', chosen as string, 'base_url'],
      got: undefined,
      allowed: 'the address of the server, such as "http://127.0.0.1:8000/v1"',
    });
  return problems;
}

function valueError(problem: Extract<Problem, { kind: 'value' }>, merged: MergedConfig): TurnwrightError {
  const key = dottedKey(problem.path);
  const got = problem.got === undefined ? 'nothing' : JSON.stringify(problem.got);
  return new TurnwrightError(
    'TW_CONFIG_VALUE',
    `${placeOf(problem.path, merged)}: ${key} is ${got}; expected ${problem.allowed}`,
    {
      facts: { key, got: problem.got, allowed: problem.allowed },
    },
  );
}

function unknownMessage(problem: Extract<Problem, { kind: 'unknown' }>, merged: MergedConfig): string {
  const hint =
    problem.nearest === undefined
      ? ''
      : `; did you mean \`${dottedKey([...problem.path.slice(0, -1), problem.nearest])}\`?`;
  const place = placeOf(problem.path, merged);
  return `unknown configuration field \`${dottedKey(problem.path)}\` in ${place}${hint}`;
}

function placeOf(path: readonly string[], merged: MergedConfig): string {
  const layer = originOf(merged, path) ?? originOf(merged, path.slice(0, -1));
  if (!layer) return 'configuration';
  return layer.path ?? (layer.name === 'flags' ? '-c/--config override' : `[profiles] of config.toml`);
}
