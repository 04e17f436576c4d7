/** Shell builtins that run text, or change what later words mean. */
import { isPoison, splitAssignment } from './environment.js';
import type { SegmentWord } from './segment.js';
import { ANY, STREAM, type Started } from './started.js';

/** Undefined when the name is no builtin of interest, so that it may be a program. */
export function unwrapBuiltin(
  name: string,
  words: readonly SegmentWord[],
  shell: string,
): readonly Started[] | undefined {
  const evaluated = evaluatedText(name, words);
  const builtin = Object.hasOwn(BUILTINS, name) ? BUILTINS[name] : undefined;
  if (builtin) return [...evaluated, ...builtin(words, shell)];
  return evaluated.length > 0 ? evaluated : undefined;
}

/** Builtins that evaluate a subscript or an expression in their words, and with it a command substitution. */
const EVALUATORS = new Set(
  'test [ let unset printf read declare typeset local export readonly mapfile readarray getopts wait'.split(' '),
);

function evaluatedText(name: string, words: readonly SegmentWord[]): readonly Started[] {
  if (!EVALUATORS.has(name)) return [];
  const code = words.slice(1).some((word) => typeof word === 'string' && /\[[^\]]*[$`]/.test(word));
  return code ? [{ kind: 'unknown', why: `${name} may evaluate text that holds a command` }] : [];
}

const BUILTINS: Readonly<Record<string, (words: readonly SegmentWord[], shell: string) => readonly Started[]>> = {
  eval: (words, shell) => here(words.slice(words[1] === '--' ? 2 : 1), shell, 'eval'),
  trap: unwrapTrap,
  alias: unwrapAlias,
  '.': (words) => source(words),
  source: (words) => source(words),
  export: assignments,
  readonly: assignments,
  declare: assignments,
  typeset: assignments,
  local: assignments,
  read: names,
  mapfile: callback,
  readarray: callback,
  getopts: names,
  printf: (words) => (words[1] === '-v' ? assignedBy(words[2]) : []),
  enable: (words) =>
    words.some((word) => word === '-f') ? [{ kind: 'unknown', why: 'enable loads code' }] : shadowAll(words),
  hash: (words) =>
    words.includes('-p') ? [...shadowAll(words), { kind: 'argv', words: [words[words.indexOf('-p') + 1] ?? ANY] }] : [],
  unset: () => [],
  compgen: (words) =>
    words.some((word) => word === '-C' || word === '-F') ? [{ kind: 'unknown', why: 'compgen runs a command' }] : [],
  set: (words) => (words.some((word) => word === '-k') ? [{ kind: 'poison', name: '*' }] : []),
};

function here(words: readonly SegmentWord[], shell: string, name: string): readonly Started[] {
  if (words.length === 0) return [];
  if (!words.every((word) => typeof word === 'string'))
    return [{ kind: 'unknown', why: `${name} runs text known only at run time` }];
  return [{ kind: 'script', text: words.join(' '), shell, transparent: true, here: true }];
}

function unwrapTrap(words: readonly SegmentWord[], shell: string): readonly Started[] {
  const action = words[words[1] === '--' ? 2 : 1];
  if (action === undefined || action === '-' || action === '' || action === '-p' || action === '-l') return [];
  return here([action], shell, 'trap');
}

function unwrapAlias(words: readonly SegmentWord[], shell: string): readonly Started[] {
  return words.slice(1).flatMap((word): readonly Started[] => {
    if (typeof word !== 'string') return [{ kind: 'unknown', why: 'alias is given text known only at run time' }];
    const equals = word.indexOf('=');
    if (equals <= 0) return [];
    const text = word.slice(equals + 1);
    return [
      { kind: 'shadow', name: word.slice(0, equals) },
      { kind: 'script', text, shell, transparent: false, here: true },
    ];
  });
}

/** A file is judged like a program: by its name. What a pipe or substitution holds nobody can see. */
function source(words: readonly SegmentWord[]): readonly Started[] {
  const file = words[words[1] === '--' ? 2 : 1];
  if (file === undefined) return [];
  const stream = typeof file !== 'string' || STREAM.test(file);
  return [
    { kind: 'poison', name: '*' },
    ...(stream ? [{ kind: 'unknown', why: 'source reads a script from its input' } as const] : []),
  ];
}

function assignments(words: readonly SegmentWord[]): readonly Started[] {
  return words.slice(1).flatMap((word): readonly Started[] => {
    if (typeof word !== 'string') return assignedBy(word);
    const pair = splitAssignment(word);
    return pair && isPoison(pair.name, pair.value) ? [{ kind: 'poison', name: pair.name }] : [];
  });
}

/** The word names a variable that gets a value from elsewhere. */
function assignedBy(word: SegmentWord | undefined): readonly Started[] {
  if (word === undefined) return [];
  if (typeof word !== 'string') return [{ kind: 'poison', name: '*' }];
  return isPoison(word.replace(/[=[].*$/s, ''), undefined) ? [{ kind: 'poison', name: word }] : [];
}

function names(words: readonly SegmentWord[]): readonly Started[] {
  return words.slice(1).flatMap((word) => (typeof word === 'string' && word.startsWith('-') ? [] : assignedBy(word)));
}

function callback(words: readonly SegmentWord[]): readonly Started[] {
  if (words.some((word) => typeof word === 'string' && /^-[a-zA-Z]*C/.test(word)))
    return [{ kind: 'unknown', why: 'mapfile runs a callback' }];
  return names(words);
}

function shadowAll(words: readonly SegmentWord[]): readonly Started[] {
  return words
    .slice(1)
    .map(
      (word): Started => (typeof word === 'string' ? { kind: 'shadow', name: word } : { kind: 'poison', name: '*' }),
    );
}
