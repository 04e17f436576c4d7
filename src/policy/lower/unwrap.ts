/** What a command starts besides itself: the argv behind a launcher, the script in a `-c`, or something nobody can read. */
import { baseName } from '../rules/rule-functions.js';
import { splitWords } from '../rules/words.js';
import { isPoison, splitAssignment } from './environment.js';
import { FOREIGN_SHELLS, type Launcher, launcherNamed, SHELLS } from './launchers.js';
import { type SegmentWord, UnknownWord } from './segment.js';
import { ANY, STREAM, type Started } from './started.js';
import { unwrapBuiltin } from './unwrap-builtin.js';

/** `shell` is the shell the command stands in, for `eval` and `trap`; undefined for a bare argv. */
export function unwrap(words: readonly SegmentWord[], shell: string | undefined): readonly Started[] {
  const [first] = words;
  if (typeof first !== 'string')
    return first ? [{ kind: 'unknown', why: `the program \`${first.text}\` is known only at run time` }] : [];
  const base = first.includes('/') ? baseName(first) : first;
  const builtin = shell === undefined || first.includes('/') ? undefined : unwrapBuiltin(base, words, shell);
  if (builtin) return builtin;
  if (SHELLS.has(base)) return unwrapShell(base, words);
  if (FOREIGN_SHELLS.has(base)) return [{ kind: 'unknown', why: `${base} is not a shell that is understood` }];
  if (base === 'find' || base === 'gfind') return unwrapFind(words);
  if (base === 'fd' || base === 'fdfind') return unwrapFd(words);
  if (base === 'git') return unwrapGit(words);
  const launcher = launcherNamed(base);
  return launcher ? unwrapLauncher(launcher, words) : [];
}

// ---- launchers by table

function unwrapLauncher(launcher: Launcher, words: readonly SegmentWord[]): readonly Started[] {
  const out: Started[] = [];
  let at = 1;
  if (launcher.subcommand) {
    const sub = words.findIndex((word, i) => i > 0 && typeof word === 'string' && launcher.subcommand!.includes(word));
    if (sub === -1) return [];
    at = sub + 1;
  }
  const options = readOptions(launcher, words, at);
  out.push(...options.started);
  if (options.printsOnly) return out;
  at = options.end;
  let taint = options.taint;
  for (; launcher.assignments; at++) {
    const word = words[at];
    if (typeof word !== 'string' || !word.includes('=')) break;
    const pair = splitAssignment(word);
    // `env` takes every word with `=` as an assignment; for the others an odd name may be the program.
    if (!pair && launcher.names[0] !== 'env') out.push({ kind: 'argv', words: words.slice(at) });
    if (!pair) continue;
    if (isPoison(pair.name, pair.value)) taint = `${pair.name} is set for it`;
  }
  const ranBefore = out.some((started) => started.kind === 'script');
  if (!ranBefore && launcher.scriptOptions && launcher.skip) {
    // `flock FILE -c SCRIPT`: the option may follow the operand.
    const late = readOptions(launcher, words, at + launcher.skip);
    out.push(...late.started.filter((started) => started.kind === 'script'));
  }
  const ranScript = out.some((started) => started.kind === 'script');
  if (!ranScript || words.length > at + (launcher.skip ?? 0)) at += launcher.skip ?? 0;
  if (words[at] === '--') at++;
  const rest = words.slice(at);
  if (rest.length === 0 || ranScript) return ranScript ? out : [...out, ...bare(launcher)];
  return [...out, ...command(launcher, rest, taint)];
}

function bare(launcher: Launcher): readonly Started[] {
  if (launcher.bare === 'input')
    return [{ kind: 'unknown', why: `${launcher.names[0]} reads commands from its input` }];
  if (launcher.bare === 'shell') return [{ kind: 'unknown', why: `${launcher.names[0]} starts a shell` }];
  return [];
}

function command(launcher: Launcher, rest: readonly SegmentWord[], taint: string | undefined): readonly Started[] {
  if (launcher.names[0] === 'parallel') return parallel(rest);
  if (launcher.joined) return [joinedScript(launcher.names[0]!, rest)];
  const words = launcher.appends ? [...rest.map((word) => placeholder(word)), ANY] : rest;
  return [{ kind: 'argv', words, ...(taint === undefined ? {} : { taint }) }];
}

/** xargs -I{} and the like put unknown text where the braces stand. */
function placeholder(word: SegmentWord): SegmentWord {
  return typeof word === 'string' && word.includes('{}') ? new UnknownWord(word, false) : word;
}

function joinedScript(name: string, words: readonly SegmentWord[]): Started {
  if (!words.every((word) => typeof word === 'string'))
    return { kind: 'unknown', why: `${name} runs text known only at run time` };
  return { kind: 'script', text: words.join(' '), shell: 'sh', transparent: false, here: false };
}

function parallel(rest: readonly SegmentWord[]): readonly Started[] {
  const end = rest.findIndex((word) => typeof word === 'string' && /^:::?:?\+?$/.test(word));
  const template = end === -1 ? rest : rest.slice(0, end);
  if (template.length === 0) {
    const inputs = rest.slice(end + 1);
    return inputs.map((word) => joinedScript('parallel', [word]));
  }
  if (template.some((word) => typeof word !== 'string' || /[;&|<>(){}$`\\"'\n]/.test(word))) {
    return [
      { kind: 'argv', words: [...template.map(placeholder), ANY] },
      { kind: 'unknown', why: 'parallel builds shell text' },
    ];
  }
  return [{ kind: 'argv', words: [...template, ANY] }];
}

interface Options {
  readonly end: number;
  readonly started: readonly Started[];
  readonly taint: string | undefined;
  readonly printsOnly: boolean;
}

function readOptions(launcher: Launcher, words: readonly SegmentWord[], from: number): Options {
  const started: Started[] = [];
  let taint: string | undefined;
  let printsOnly = false;
  let at = from;
  const surprise = (text: string) =>
    started.push({ kind: 'unknown', why: `${launcher.names[0]} has the unknown option \`${text}\`` });
  const give = (option: string, value: SegmentWord | undefined) => {
    if (launcher.scriptOptions?.includes(option)) started.push(scriptValue(launcher, value));
    if (launcher.splitOptions?.includes(option)) started.push(...splitValue(value));
  };
  for (; at < words.length; at++) {
    const word = words[at];
    if (typeof word !== 'string') {
      // It may be an option, its value, or the program: keep looking, but say so.
      started.push({ kind: 'unknown', why: `${launcher.names[0]} is given \`${word?.text}\`, known only at run time` });
      continue;
    }
    if (word === '--' || word === '-') {
      at++;
      if (word === '--') break;
      continue;
    }
    if (!/^[-+]/.test(word) || (launcher.skip && /^\+/.test(word))) break;
    if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      const name = word.slice(2, equals === -1 ? undefined : equals);
      const takes = longOption(launcher, name);
      if (takes === undefined && equals === -1) surprise(word);
      if (launcher.printsWith?.includes(name)) printsOnly = true;
      if (equals !== -1) give(takes?.name ?? name, word.slice(equals + 1));
      else if (takes?.value) give(takes.name, words[++at]);
      continue;
    }
    at = shortOptions(launcher, words, at, give, surprise, () => {
      printsOnly = true;
    });
  }
  return { end: Math.min(at, words.length), started, taint, printsOnly };
}

/** Long options may be shortened as long as they stay unique. */
function longOption(launcher: Launcher, name: string): { readonly name: string; readonly value: boolean } | undefined {
  const candidates = [
    ...(launcher.longFlags ?? []).map((flag) => ({ name: flag, value: false })),
    ...(launcher.longValues ?? []).map((option) => ({ name: option, value: true })),
  ];
  return candidates.find((option) => option.name === name) ?? candidates.find((option) => option.name.startsWith(name));
}

function shortOptions(
  launcher: Launcher,
  words: readonly SegmentWord[],
  at: number,
  give: (option: string, value: SegmentWord | undefined) => void,
  surprise: (text: string) => void,
  prints: () => void,
): number {
  const cluster = words[at] as string;
  for (let i = 1; i < cluster.length; i++) {
    const letter = cluster[i]!;
    if (launcher.printsWith?.includes(letter)) prints();
    if (launcher.gluedValues?.includes(letter)) return at;
    if (launcher.values?.includes(letter)) {
      const glued = cluster.slice(i + 1);
      give(letter, glued === '' ? words[at + 1] : glued);
      return glued === '' ? at + 1 : at;
    }
    if (!launcher.flags?.includes(letter)) {
      surprise(cluster);
      return at;
    }
  }
  return at;
}

function scriptValue(launcher: Launcher, value: SegmentWord | undefined): Started {
  if (typeof value !== 'string')
    return { kind: 'unknown', why: `${launcher.names[0]} runs text known only at run time` };
  return { kind: 'script', text: value, shell: 'sh', transparent: false, here: false };
}

function splitValue(value: SegmentWord | undefined): readonly Started[] {
  const words = typeof value === 'string' && !/[$\\]/.test(value) ? splitWords(value) : undefined;
  if (!words) return [{ kind: 'unknown', why: 'env -S runs text known only at run time' }];
  return [{ kind: 'argv', words: ['env', ...words, ANY] }];
}

// ---- programs with a way of their own

function unwrapFind(words: readonly SegmentWord[]): readonly Started[] {
  const out: Started[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at];
    if (typeof word !== 'string' || !/^-(exec|execdir|ok|okdir)$/.test(word)) continue;
    const length = words
      .slice(at + 1)
      .findIndex((end, i, rest) => end === ';' || (end === '+' && rest[i - 1] === '{}'));
    const end = length === -1 ? words.length : at + 1 + length;
    const inner = words.slice(at + 1, end).map(words[end] === '+' ? manyFiles : placeholder);
    if (inner.length > 0) out.push({ kind: 'argv', words: inner });
    at += inner.length;
  }
  if (words.some((word) => typeof word !== 'string' && word.many)) {
    out.push({ kind: 'unknown', why: 'find is given words known only at run time' });
  }
  return out;
}

/** With `+` the braces become as many files as fit. */
function manyFiles(word: SegmentWord): SegmentWord {
  return word === '{}' ? new UnknownWord(word, true) : word;
}

function unwrapFd(words: readonly SegmentWord[]): readonly Started[] {
  const at = words.findIndex((word) => typeof word === 'string' && /^(-[a-zA-Z]*[xX]|--exec|--exec-batch)$/.test(word));
  const rest = at === -1 ? [] : words.slice(at + 1);
  return rest.length === 0 ? [] : [{ kind: 'argv', words: [...rest.map(placeholder), ANY] }];
}

/** Git runs programs for these; what they are is written in the arguments. */
function unwrapGit(words: readonly SegmentWord[]): readonly Started[] {
  const out: Started[] = [];
  const script = (text: SegmentWord | undefined): Started =>
    typeof text === 'string'
      ? { kind: 'script', text, shell: 'sh', transparent: false, here: false }
      : { kind: 'unknown', why: 'git runs text known only at run time' };
  const text = words.map((word) => (typeof word === 'string' ? word : ''));
  for (let at = 1; at < words.length; at++) {
    const word = text[at]!;
    const config = word === '-c' ? text[at + 1] : /^--config-env=/.test(word) ? 'unknown=!' : undefined;
    const value = config?.slice(config.indexOf('=') + 1) ?? '';
    if (config !== undefined && RUNS_FROM_CONFIG.test(config)) out.push(script(value.replace(/^!/, '')));
    if (word === '-x' && text.includes('rebase')) out.push(script(words[at + 1]));
    if (word.startsWith('--exec=') && text.includes('rebase')) out.push(script(word.slice(7)));
    if (word === '--exec' && text.includes('rebase')) out.push(script(words[at + 1]));
    if (word === 'run' && text[at - 1] === 'bisect') out.push({ kind: 'argv', words: words.slice(at + 1) });
    if (word === 'foreach' && text.slice(1, at).includes('submodule')) {
      const rest = words.slice(at + 1).filter((inner) => inner !== '--recursive' && inner !== '-q');
      out.push(rest.length === 1 ? script(rest[0]) : { kind: 'argv', words: rest });
    }
  }
  return out;
}

const RUNS_FROM_CONFIG =
  /^(alias\.|core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|hookspath)=|pager\.|diff\.external=|diff\..*\.(command|textconv)=|merge\..*\.driver=|filter\.|credential\..*helper=|credential\.helper=|sequence\.editor=|gpg\..*program=|gpg\.program=|difftool\.|mergetool\.|browser\.|man\.|uploadpack\.|remote\..*\.(uploadpack|receivepack)=|http\.|protocol\.ext)/i;

function unwrapShell(shell: string, words: readonly SegmentWord[]): readonly Started[] {
  let wantsScript = false;
  let plain = true;
  let readsInput = false;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at];
    if (typeof word !== 'string')
      return [{ kind: 'unknown', why: `${shell} is given \`${word?.text}\`, known only at run time` }];
    if (word === '--' || word === '-') {
      at++;
      break;
    }
    if (/^--(rcfile|init-file)$/.test(word)) at++;
    if (word.startsWith('--')) {
      plain = false;
      continue;
    }
    if (!/^[-+]./.test(word)) break;
    if (word.startsWith('-') && word.includes('c')) wantsScript = true;
    if (word.startsWith('-') && word.includes('s')) readsInput = true;
    if (!/^-[elnuxc]*$/.test(word)) plain = false;
    if (/^[-+][a-zA-Z]*[oO]$/.test(word)) at++;
  }
  const operand = words[at];
  if (wantsScript) {
    if (typeof operand !== 'string') return [{ kind: 'unknown', why: `${shell} -c runs text known only at run time` }];
    return [{ kind: 'script', text: operand, shell, transparent: plain, here: false }];
  }
  if (operand === undefined || readsInput || (typeof operand === 'string' && STREAM.test(operand)))
    return [{ kind: 'unknown', why: `${shell} reads a script from its input` }];
  return [];
}
