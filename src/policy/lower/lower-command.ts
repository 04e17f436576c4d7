/** One command line to the commands it can start. */

import { baseName, normalizePath } from '../rules/rule-functions.js';
import { SHELLS } from './launchers.js';
import { plainCommands } from './plain.js';
import {
  type FileEffect,
  type Lowered,
  MAX_NESTING,
  MAX_SCRIPT_LENGTH,
  MAX_SEGMENTS,
  type Segment,
  type SegmentVia,
  type SegmentWord,
} from './segment.js';
import type { Started } from './started.js';
import { unwrap } from './unwrap.js';
import { type WalkedScript, walkScript } from './walk-script.js';

export interface LowerOptions {
  /** Absolute directory the command runs in. */
  readonly cwd: string;
}

/**
 * Takes an argv apart. `[shell, -c | -lc | …, script]` is judged by its script; anything else is one command.
 * Whatever cannot be read is listed in `unknown`, never left out.
 */
export function lowerCommand(argv: readonly string[], options: LowerOptions): Lowered {
  return new Lowering(argv, options.cwd).run();
}

interface Draft {
  readonly words: readonly SegmentWord[];
  readonly via: SegmentVia;
  readonly parent: number | undefined;
  readonly plain: boolean;
  readonly unescaped: boolean;
  readonly own: string | undefined;
  transparent: boolean;
}

class Lowering {
  readonly #argv: readonly string[];
  readonly #cwd: string;
  readonly #drafts: Draft[] = [];
  readonly #effects: FileEffect[] = [];
  readonly #unknown = new Set<string>();
  readonly #shadowed = new Set<string>();
  /** Poisoned variables, each with the segment that sets it; a command does not poison itself. */
  readonly #poisons: { readonly name: string; readonly by: number | undefined }[] = [];
  #tooNested = false;

  constructor(argv: readonly string[], cwd: string) {
    this.#argv = argv;
    this.#cwd = cwd;
  }

  run(): Lowered {
    const outer = shellScript(this.#argv);
    const plain = outer ? this.#outerScript(outer.shell, outer.script) : true;
    if (!outer) this.#add({ words: this.#argv, via: 'script', plain: true, unescaped: true }, undefined, 0);
    return {
      argv: this.#argv,
      script: outer?.script,
      plain,
      segments: this.#drafts.map((draft, index) => this.#finish(draft, index)),
      effects: this.#effects,
      unknown: [...this.#unknown],
      tooNested: this.#tooNested,
    };
  }

  #outerScript(shell: string, script: string): boolean {
    if (script.length > MAX_SCRIPT_LENGTH) {
      this.#unknown.add('the script is too large to be judged');
      return false;
    }
    const commands = plainCommands(script);
    if (!commands || commands.length > MAX_SEGMENTS) {
      this.#script(shell, script, 'script', undefined, 0);
      return false;
    }
    for (const words of commands)
      this.#add({ words, via: 'script', plain: true, unescaped: true }, undefined, 0, shell);
    return true;
  }

  /** A script of any form, at any depth. */
  #script(shell: string, script: string, via: SegmentVia, parent: number | undefined, depth: number): void {
    if (script.length > MAX_SCRIPT_LENGTH || this.#drafts.length > MAX_SEGMENTS) {
      this.#unknown.add('the script is too large to be judged');
      return;
    }
    const dialect = shell === 'bash' || shell === 'rbash' ? 'bash' : 'sh';
    if (!['bash', 'rbash', 'sh', 'dash', 'ash'].includes(shell) && plainCommands(script) === undefined) {
      this.#unknown.add(`${shell} may read the script differently`);
    }
    const walked = walkScript(script, { dialect, maxCommands: MAX_SEGMENTS });
    this.#merge(walked);
    for (const { words, taint, unescaped, input } of walked.commands) {
      this.#add({ words, via, plain: false, unescaped, own: taint, input }, parent, depth, shell);
    }
  }

  #merge(walked: WalkedScript): void {
    for (const why of walked.unknown) this.#unknown.add(why);
    for (const name of walked.functions) this.#shadowed.add(name);
    for (const name of walked.poisons) this.#poisons.push({ name, by: undefined });
    for (const { kind, target, directory } of walked.redirections) {
      const text = typeof target === 'string' ? target : target.text;
      this.#effects.push({ kind, text, path: this.#absolute(target, directory) });
    }
  }

  #absolute(target: SegmentWord, directory: string | undefined): string | undefined {
    if (typeof target !== 'string') return undefined;
    if (target.startsWith('/')) return normalizePath(target);
    if (directory === undefined) return undefined;
    return normalizePath(directory.startsWith('/') ? `${directory}/${target}` : `${this.#cwd}/${directory}/${target}`);
  }

  #add(
    command: {
      readonly words: readonly SegmentWord[];
      readonly via: SegmentVia;
      readonly plain: boolean;
      readonly unescaped: boolean;
      readonly own?: string | undefined;
      readonly input?: string | undefined;
    },
    parent: number | undefined,
    depth: number,
    shell?: string,
  ): void {
    if (this.#drafts.length >= MAX_SEGMENTS) {
      this.#unknown.add('the script is too large to be judged');
      return;
    }
    const { words, via, plain, unescaped, own } = command;
    const index = this.#drafts.length;
    const draft: Draft = { words, via, parent, plain, unescaped, own, transparent: false };
    this.#drafts.push(draft);
    if (depth > MAX_NESTING) {
      this.#tooNested = true;
      this.#unknown.add('launchers are nested too deeply');
      return;
    }
    for (const started of unwrap(words, shell)) this.#start(started, draft, index, depth, command.input, shell);
  }

  #start(
    started: Started,
    draft: Draft,
    index: number,
    depth: number,
    input: string | undefined,
    shell: string | undefined,
  ): void {
    switch (started.kind) {
      case 'argv': {
        const unescaped = draft.unescaped;
        this.#add(
          { words: started.words, via: 'launcher', plain: false, unescaped, own: started.taint ?? draft.own },
          index,
          depth + 1,
          shellFor(draft, shell),
        );
        return;
      }
      case 'script':
        draft.transparent = started.transparent && draft.own === undefined;
        this.#script(started.shell, started.text, 'inner-script', index, depth + 1);
        return;
      case 'unknown':
        if (input !== undefined && / from its input$/.test(started.why))
          this.#script('sh', input, 'inner-script', index, depth + 1);
        else this.#unknown.add(started.why);
        return;
      case 'poison':
        this.#poisons.push({ name: started.name, by: index });
        return;
      case 'shadow':
        this.#shadowed.add(started.name);
    }
  }

  #finish(draft: Draft, index: number): Segment {
    const { words, via, parent, plain, transparent, unescaped, own } = draft;
    const known = words.every((word) => typeof word === 'string');
    const [name] = words;
    const shadowed =
      typeof name === 'string' && this.#shadowed.has(name) ? `the script gives \`${name}\` another meaning` : undefined;
    const poison = this.#poisons.find(({ by }) => by !== index)?.name;
    const carried = shadowed ?? (poison === undefined ? undefined : poisonText(poison));
    return {
      words,
      argv: known ? (words as readonly string[]) : undefined,
      via,
      parent,
      transparent,
      plain,
      taint: own ?? carried,
      carried: own === undefined && carried !== undefined,
      unescaped,
    };
  }
}

function poisonText(name: string): string {
  return name === '*' ? 'an earlier command can change what it runs' : `${name} is set before it`;
}

/** Inside `command`, `exec` and `builtin` the shell's own builtins still run; behind a real program they do not. */
function shellFor(draft: Draft, shell: string | undefined): string | undefined {
  const [name] = draft.words;
  return typeof name === 'string' && ['command', 'builtin', 'time', 'coproc'].includes(name) ? shell : undefined;
}

/** The script of `[shell, -c, script]` and its spellings; a fourth word is `$0` and changes nothing. */
export function shellScript(argv: readonly string[]): { readonly shell: string; readonly script: string } | undefined {
  const shell = baseName(argv[0] ?? '');
  const [, flag, script] = argv;
  if (!SHELLS.has(shell) || flag === undefined || script === undefined) return undefined;
  return argv.length === 3 && /^-[elnuxi]*c$/.test(flag) ? { shell, script } : undefined;
}
