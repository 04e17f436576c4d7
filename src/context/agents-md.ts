/**
 * AGENTS.md discovery: the user's own file, then one file per folder from the project root down to the working directory.
 * In each folder `AGENTS.override.md` wins over `AGENTS.md`, which wins over the configured fallback names.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { readRegularFile } from '../lib/index.js';

/** No instructions are that long; a file that is was not meant for a model. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

export interface AgentsMdOptions {
  /** Folders whose AGENTS.md speaks for the user (config home first); the first that has one counts. */
  readonly userFolders: readonly string[];
  readonly cwd: string;
  /** Names that mark a project root. Default `.git`. */
  readonly rootMarkers: readonly string[];
  readonly fallbackNames: readonly string[];
  /** All project files together are cut at this many bytes; 0 turns them off. */
  readonly maxBytes: number;
}

export interface AgentsMd {
  /** Ready for the model; undefined when there is nothing to say. */
  readonly text?: string;
  /** Files that were read, in order. */
  readonly sources: readonly string[];
  readonly warnings: readonly string[];
}

export async function readAgentsMd(options: AgentsMdOptions): Promise<AgentsMd> {
  const warnings: string[] = [];
  const user = await firstReadable(options.userFolders, options, warnings);
  const project = options.maxBytes > 0 ? await projectFiles(options, warnings) : [];
  const files = user ? [user, ...project] : project;
  const body = files
    .map((file) => file.text.trim())
    .filter(Boolean)
    .join('\n\n--- project-doc ---\n\n');
  const sources = files.map((file) => file.path);
  if (body === '') return { sources, warnings };
  return {
    text: `# AGENTS.md instructions for ${options.cwd}\n\n<INSTRUCTIONS>\n${body}\n</INSTRUCTIONS>`,
    sources,
    warnings,
  };
}

interface Found {
  readonly path: string;
  readonly text: string;
}

async function firstReadable(
  folders: readonly string[],
  options: AgentsMdOptions,
  warnings: string[],
): Promise<Found | undefined> {
  for (const folder of folders) {
    const found = await readOne(folder, options, warnings);
    if (found) return found;
  }
  return undefined;
}

async function projectFiles(options: AgentsMdOptions, warnings: string[]): Promise<Found[]> {
  const files: Found[] = [];
  let left = options.maxBytes;
  for (const folder of await foldersFromRoot(options.cwd, options.rootMarkers)) {
    const found = await readOne(folder, options, warnings);
    if (!found || left <= 0) continue;
    const bytes = Buffer.from(found.text);
    if (bytes.length > left)
      warnings.push(
        `${found.path} is cut: project instructions are limited to ${options.maxBytes} bytes (project_doc_max_bytes)`,
      );
    files.push({ path: found.path, text: bytes.subarray(0, left).toString('utf8') });
    left -= bytes.length;
  }
  return files;
}

async function readOne(folder: string, options: AgentsMdOptions, warnings: string[]): Promise<Found | undefined> {
  for (const name of ['AGENTS.override.md', 'AGENTS.md', ...options.fallbackNames]) {
    const file = path.join(folder, name);
    try {
      const text = (await readRegularFile(file, MAX_FILE_BYTES)).toString('utf8');
      if (text.trim() !== '') return { path: file, text };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR')
        warnings.push(`${file} cannot be read (${code}); its instructions are not used`);
    }
  }
  return undefined;
}

/** The project root (first parent with a marker, else the working directory itself) and every folder down from it. */
async function foldersFromRoot(cwd: string, markers: readonly string[]): Promise<string[]> {
  const chain = [cwd];
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (folder !== cwd) chain.unshift(folder);
    if ((await Promise.all(markers.map((marker) => exists(path.join(folder, marker))))).includes(true)) return chain;
    if (path.dirname(folder) === folder) return [cwd];
  }
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
