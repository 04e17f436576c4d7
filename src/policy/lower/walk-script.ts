/**
 * The suspicion pass. Walks every command of a script in any syntax: lists, groups, control flow, functions,
 * substitutions, here-documents. It can only add reasons to ask; the few scripts it proves fully literal may at most
 * keep a rule's "no question", never leave the sandbox.
 */
import {
  type Assignment,
  type Command,
  forEachChild,
  type HereDoc,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { isPoison } from './environment.js';
import { type SegmentWord, UnknownWord } from './segment.js';
import { type Dialect, readWord } from './word-value.js';

export interface WalkedCommand {
  readonly words: readonly SegmentWord[];
  /** Its own assignments name a variable that changes what runs. */
  readonly taint: string | undefined;
  readonly unescaped: boolean;
  /** Literal text given to its standard input by a here-document or here-string. */
  readonly input: string | undefined;
}

export interface WalkedRedirection {
  readonly kind: 'read' | 'write';
  readonly target: SegmentWord;
  /** `cd` with a directory ran before it: undefined is "somewhere". */
  readonly directory: string | undefined;
}

export interface WalkedScript {
  readonly commands: readonly WalkedCommand[];
  readonly redirections: readonly WalkedRedirection[];
  /** Functions the script defines; their names no longer mean the program. */
  readonly functions: readonly string[];
  /** Variables that change what later commands run. */
  readonly poisons: readonly string[];
  readonly unknown: readonly string[];
}

export interface WalkOptions {
  readonly dialect: Dialect;
  readonly maxCommands: number;
}

export function walkScript(script: string, options: WalkOptions): WalkedScript {
  const walker = new Walker(options);
  if (/[\0\r]/.test(script)) walker.unknown.add('the script holds a NUL or carriage return');
  try {
    walker.script(parse(script), script);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    walker.unknown.add('the script nests too deeply');
  }
  return walker.result();
}

const NOTHING = new Set([
  '/dev/null',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/stdin',
  '/dev/tty',
  '/dev/zero',
  '/dev/full',
]);
const MAX_DEPTH = 200;
/** Constructs whose meaning differs, or is a syntax error, in a sh that is not bash. */
const BASH_ONLY = new Set<SyntaxNode['type']>([
  'TestCommand',
  'ArithmeticCommand',
  'ArithmeticFor',
  'Select',
  'Coproc',
  'HereString',
  'ArrayValue',
  'Time',
]);

class Walker {
  readonly unknown = new Set<string>();
  readonly #options: WalkOptions;
  readonly #commands: WalkedCommand[] = [];
  readonly #redirections: WalkedRedirection[] = [];
  readonly #functions = new Set<string>();
  readonly #poisons = new Set<string>();
  /** Current directory as `cd` left it, relative to the start; undefined once it is not known. */
  #directory: string | undefined = '';
  #directoryChanges = 0;
  #depth = 0;
  /** Arithmetic evaluates the text of variables, and that text may hold a command substitution. */
  #arithmetic = false;
  #codeLikeText = false;
  #dynamicValues = false;

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  result(): WalkedScript {
    if (this.#arithmetic && (this.#codeLikeText || this.#dynamicValues)) {
      this.unknown.add('arithmetic may evaluate text that holds a command');
    }
    return {
      commands: this.#commands,
      redirections: this.#redirections,
      functions: [...this.#functions],
      poisons: [...this.#poisons],
      unknown: [...this.unknown],
    };
  }

  script(script: ParsedScript, source: string): void {
    if (script.errors && script.errors.length > 0)
      this.unknown.add(`the script has a syntax error (${script.errors[0]!.message})`);
    for (const statement of script.commands) this.#visit(statement, script.source ?? source);
  }

  #visit(node: SyntaxNode, source: string): void {
    if (++this.#depth > MAX_DEPTH || this.#commands.length > this.#options.maxCommands) {
      this.unknown.add('the script is too large to be judged');
    } else this.#node(node, source);
    this.#depth--;
  }

  #children(node: SyntaxNode, source: string): void {
    forEachChild(node, (child) => this.#visit(child, source));
  }

  #node(node: SyntaxNode, source: string): void {
    if (this.#options.dialect === 'sh') this.#portable(node, source);
    switch (node.type) {
      case 'Script':
        this.script(node, source);
        return;
      case 'Command':
        this.#command(node, source);
        return;
      case 'Assignment':
        this.#assignment(node, source);
        return;
      case 'Function':
        this.#functions.add(node.name.text);
        this.#inBranch(node.body, source);
        return;
      case 'Redirect':
      case 'HereDoc':
      case 'HereString':
        this.#redirection(node, source);
        return;
      case 'Word':
        this.#reading(node);
        this.#children(node, source);
        return;
      case 'For':
      case 'Select':
        if (isPoison(node.name.text, undefined)) this.#poisons.add(node.name.text);
        this.#children(node, source);
        return;
      case 'ParameterExpansion':
        this.#parameter(node, source);
        return;
      case 'ArithmeticWord':
        if (/[A-Za-z_]/.test(node.value)) this.#arithmetic = true;
        this.#children(node, source);
        return;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
        if (node.script === undefined) this.unknown.add('a command substitution cannot be read');
        else this.#inBranch(node.script, node.script.source ?? source);
        return;
      case 'ArithmeticExpansion':
      case 'ArithmeticCommand':
      case 'ArithmeticFor':
        this.#arithmeticText(node, source);
        this.#children(node, source);
        return;
      case 'TestUnary':
        if (node.operator === '-v' || node.operator === '-R') this.#arithmetic = true;
        this.#children(node, source);
        return;
      case 'TestBinary':
        if (/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) this.#arithmetic = true;
        this.#children(node, source);
        return;
      case 'Subshell':
        this.#inBranch(node.body, source);
        return;
      default:
        this.#children(node, source);
        return;
    }
  }

  /** Inside arithmetic single quotes do not protect: a substitution between them runs. */
  #arithmeticText(node: SyntaxNode, source: string): void {
    const text = source.slice(node.pos, node.end);
    const inside = node.type === 'ArithmeticFor' ? text.slice(0, text.indexOf('))')) : text;
    const unread =
      (node.type === 'ArithmeticExpansion' || node.type === 'ArithmeticCommand') && node.expression === undefined;
    if (/['"\\]/.test(inside) || (unread && /[^$()[\]\s]/.test(inside))) this.unknown.add('arithmetic cannot be read');
  }

  /** A directory change inside does not reach what follows, or may not have happened. */
  #inBranch(node: SyntaxNode, source: string): void {
    const before = this.#directory;
    this.#visit(node, source);
    if (this.#directory !== before) this.#directory = node.type === 'CompoundList' ? before : undefined;
  }

  #portable(node: SyntaxNode, source: string): void {
    const text = source.slice(node.pos, node.end);
    const bashOnly =
      BASH_ONLY.has(node.type) ||
      (node.type === 'Function' && text.startsWith('function')) ||
      (node.type === 'Pipeline' && node.operators.includes('|&')) ||
      (node.type === 'Redirect' && node.operator.startsWith('&>')) ||
      (node.type === 'CaseItem' && node.terminator !== undefined && node.terminator !== ';;') ||
      (node.type === 'Assignment' && (node.append === true || node.index !== undefined));
    if (bashOnly) this.unknown.add('the script uses syntax of bash in another shell');
  }

  #reading(word: Word): ReturnType<typeof readWord> {
    const reading = readWord(word, this.#options.dialect);
    if (reading.doubtful) this.unknown.add(reading.doubtful);
    if (typeof reading.word === 'string' ? /\$\(|`/.test(reading.word) : /['"\\].*(\$\(|`)/s.test(reading.word.text)) {
      this.#codeLikeText = true;
    }
    return reading;
  }

  #command(node: Command, source: string): void {
    const words = [node.name, ...node.args].filter((item): item is Word | Assignment => item !== undefined);
    const readings = words.map((item) => this.#argument(item, source));
    if (words.some((item, i) => item.end === words[i + 1]?.pos))
      this.unknown.add('a word is split differently by the shell');
    const own = node.prefix.filter((item): item is Assignment => item.type === 'Assignment');
    const poisoned = own.filter((item) => isPoison(item.name, this.#assignedValue(item)));
    if (words.length === 0) for (const item of poisoned) this.#poisons.add(item.name);
    else {
      const unescaped = readings.every((reading) => reading.unescaped);
      const taint = poisoned[0] && `${poisoned[0].name} is set for it`;
      const wordList = readings.map((reading) => reading.word);
      this.#commands.push({ words: wordList, taint, unescaped, input: inputOf(node.redirects) });
      this.#evaluates(wordList);
      // A redirection opens its file before the command runs.
      for (const item of [...own, ...node.redirects]) this.#visit(item, source);
      this.#changeDirectory(wordList);
      return;
    }
    for (const item of [...own, ...node.redirects]) this.#visit(item, source);
  }

  #argument(item: Word | Assignment, source: string): ReturnType<typeof readWord> {
    if (item.type === 'Word') {
      const reading = this.#reading(item);
      this.#children(item, source);
      return reading;
    }
    this.#assignment(item, source);
    const value = item.value.type === 'Word' ? this.#reading(item.value) : undefined;
    const word =
      typeof value?.word === 'string' && !item.index && !value.doubtful
        ? `${item.name}${item.append ? '+' : ''}=${value.word}`
        : undefined;
    if (word !== undefined) return { word, unescaped: value!.unescaped, doubtful: undefined };
    // The name is known even where the value is not: whether it poisons depends on the name.
    if (isPoison(item.name, undefined)) this.#poisons.add(item.name);
    return { word: new UnknownWord(item.text, false), unescaped: false, doubtful: undefined };
  }

  #assignedValue(item: Assignment): string | undefined {
    if (item.value.type !== 'Word' || item.append) return undefined;
    const { word } = readWord(item.value, this.#options.dialect);
    return typeof word === 'string' ? word : undefined;
  }

  #assignment(node: Assignment, source: string): void {
    const value = this.#assignedValue(node);
    if (/^(PS[0-4]|PROMPT_COMMAND)$/.test(node.name) && (value === undefined || /[$`]/.test(value))) {
      this.unknown.add(`${node.name} may hold a command`);
    }
    if (value === undefined) this.#dynamicValues = true;
    if (node.index) this.#arithmetic = true;
    this.#children(node, source);
  }

  #parameter(node: Extract<SyntaxNode, { type: 'ParameterExpansion' }>, source: string): void {
    const { operation } = node;
    if (operation?.type === 'Unknown') this.unknown.add('a parameter expansion cannot be read');
    if (operation?.type === 'Slice' || (node.index && !/^[@*\d]$/.test(node.index.text))) this.#arithmetic = true;
    if (operation?.type === 'Transform' && operation.operand.text.includes('P'))
      this.unknown.add('a prompt expansion may run a command');
    if (operation?.type === 'Default' && operation.operator.includes('=') && isPoison(node.parameter, undefined)) {
      this.#poisons.add(node.parameter);
    }
    if (node.prefix === '!') this.#arithmetic = true;
    this.#children(node, source);
  }

  /** Builtins that evaluate their words as arithmetic or as a subscript. */
  #evaluates(words: readonly SegmentWord[]): void {
    const [name] = words;
    if (typeof name !== 'string') return;
    if (
      /^(let|test|\[|unset|printf|read|declare|typeset|local|export|readonly|mapfile|readarray|getopts|wait)$/.test(
        name,
      )
    ) {
      const subscript = words.some((word) =>
        typeof word === 'string' ? /\[.*[$`]/s.test(word) : /\[/.test(word.text),
      );
      if (subscript && (name !== '[' || words.some((word) => word === '-v'))) this.#arithmetic = true;
      if (name === 'let' || words.some((word) => word === '-v' || word === '-i')) this.#arithmetic = true;
    }
    if (/^(read|mapfile|readarray)$/.test(name)) this.#dynamicValues = true;
  }

  #changeDirectory(words: readonly SegmentWord[]): void {
    const [name, target] = words;
    if (name === 'pushd' || name === 'popd') this.#directory = undefined;
    if (name !== 'cd') return;
    // With a second change, which of them happened depends on how the commands end.
    if (++this.#directoryChanges > 1) {
      this.#directory = undefined;
      return;
    }
    const known = words.length === 2 && typeof target === 'string' && target !== '-' && !target.startsWith('-');
    if (!known || this.#directory === undefined) this.#directory = known && target.startsWith('/') ? target : undefined;
    else
      this.#directory = target.startsWith('/') ? target : `${this.#directory === '' ? '.' : this.#directory}/${target}`;
  }

  #redirection(node: Redirection, source: string): void {
    const { descriptor } = node;
    // dash knows descriptors of one digit; more digits are a word there.
    const odd = descriptor && (descriptor.type === 'FileDescriptorVariable' || descriptor.value > 9);
    if (this.#options.dialect === 'sh' && odd) this.unknown.add('the script uses syntax of bash in another shell');
    if (node.type === 'HereDoc') {
      this.#children(node, source);
      return;
    }
    if (node.target === undefined) {
      this.unknown.add('a redirection has no target');
      return;
    }
    const { word } = this.#reading(node.target);
    this.#children(node.target, source);
    if (node.type === 'HereString') return;
    const duplicates = node.operator === '<&' || node.operator === '>&';
    if (duplicates && typeof word === 'string' && /^(\d+-?|-)$/.test(word)) return;
    if (typeof word === 'string' && (NOTHING.has(word) || /^\/dev\/fd\/\d+$/.test(word))) return;
    const kind = node.operator === '<' || node.operator === '<&' ? 'read' : 'write';
    this.#redirections.push({ kind, target: word, directory: this.#directory });
  }
}

/** The text a here-document or here-string gives, when it has no expansion. */
function inputOf(redirections: readonly Redirection[]): string | undefined {
  const last = redirections.filter((item) => item.type === 'HereDoc' || item.type === 'HereString').at(-1);
  if (last?.type === 'HereString') {
    const word = last.target && readWord(last.target, 'bash').word;
    return typeof word === 'string' ? word : undefined;
  }
  return last ? hereText(last) : undefined;
}

function hereText({ delimiter, body }: HereDoc): string | undefined {
  if (delimiter?.quoted) return body.text;
  const parts = body.parts ?? [];
  if (parts.some((part) => part.type !== 'Literal')) return undefined;
  return parts.length === 0 ? body.text : parts.map((part) => (part.type === 'Literal' ? part.value : '')).join('');
}
