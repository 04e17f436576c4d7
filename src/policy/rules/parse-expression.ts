/** Tokens to expressions: recursive descent with a depth cap, so that no file can exhaust the stack. */
import type { Argument, Clause, Expression, Parameter } from './ast.js';
import { decodeEscapes, lex, type Token } from './lex.js';
import { Mistake } from './rule-error.js';

const RESERVED = new Set(
  'as assert async await class del except finally from global import is nonlocal raise try while with yield'.split(' '),
);
const KEYWORDS = new Set('and or not in if elif else for def return break continue pass lambda load'.split(' '));
const MAX_DEPTH = 100;
/** `or` binds least; comparisons stand between the words and the arithmetic. */
const FIRST_ARITHMETIC = 2;
const LEVELS = new Map(
  [['or'], ['and'], ['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '//', '%']].flatMap((operators, level) =>
    operators.map((operator) => [operator, level] as const),
  ),
);
const COMPARISONS = new Set(['==', '!=', '<', '>', '<=', '>=']);

export class ExpressionParser {
  readonly #tokens: readonly Token[];
  protected at = 0;
  #depth: number;

  constructor(tokens: readonly Token[], depth = 0) {
    this.#tokens = tokens;
    this.#depth = depth;
  }

  /** One expression that fills the whole text: the braces of an f-string. */
  only(): Expression {
    const value = this.expressionList();
    if (this.token.kind === 'newline') this.at++;
    if (this.token.kind !== 'end') throw this.unexpected("f-string expression end '}'");
    return value;
  }

  protected get token(): Token {
    return this.#tokens[this.at]!;
  }

  protected is(text: string): boolean {
    const token = this.token;
    return (token.kind === 'op' || token.kind === 'name') && token.text === text;
  }

  protected accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }

  protected acceptKind(kind: Token['kind']): boolean {
    if (this.token.kind !== kind) return false;
    this.at++;
    return true;
  }

  protected expect(text: string): Token {
    const token = this.token;
    if (!this.accept(text)) throw this.unexpected(`symbol '${text}'`);
    return token;
  }

  protected unexpected(wanted: string): Mistake {
    const token = this.token;
    const found: Partial<Record<Token['kind'], string>> = {
      newline: 'new line',
      end: 'new line',
      indent: 'indentation',
      dedent: 'end of indentation',
      string: `string literal ${JSON.stringify(token.text)}`,
      fstring: 'f-string',
    };
    if (token.kind === 'name' && RESERVED.has(token.text)) return this.reserved(token);
    const what =
      found[token.kind] ??
      (token.kind === 'name'
        ? `${KEYWORDS.has(token.text) ? 'keyword' : 'identifier'} '${token.text}'`
        : token.kind === 'op'
          ? `symbol '${token.text}'`
          : `number ${token.text}`);
    return new Mistake('syntax', `parse error: unexpected ${what}, expected ${wanted}`, token.offset);
  }

  protected reserved(token: Token): Mistake {
    return new Mistake('syntax', `parse error: cannot use reserved keyword \`${token.text}\``, token.offset);
  }

  protected deeper<T>(build: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new Mistake('limit', 'nested too deeply', this.token.offset);
    const value = build();
    this.#depth--;
    return value;
  }

  protected identifier(): Token {
    const token = this.token;
    if (token.kind !== 'name' || KEYWORDS.has(token.text)) throw this.unexpected('identifier');
    if (RESERVED.has(token.text)) throw this.reserved(token);
    this.at++;
    return token;
  }

  protected expressionList(): Expression {
    const { offset } = this.token;
    const first = this.test();
    if (!this.is(',')) return first;
    const items = [first];
    while (this.accept(',')) {
      if (!this.#startsExpression()) break;
      items.push(this.test());
    }
    return { type: 'tuple', offset, items };
  }

  #startsExpression(): boolean {
    const { kind, text } = this.token;
    if (kind === 'op') return '([{+-~'.includes(text);
    if (kind === 'name') return !KEYWORDS.has(text) || text === 'not' || text === 'lambda';
    return kind === 'int' || kind === 'float' || kind === 'string' || kind === 'fstring';
  }

  protected test(): Expression {
    return this.deeper(() => {
      const { offset } = this.token;
      if (this.accept('lambda')) {
        const params = this.parameters(':', false);
        this.expect(':');
        return { type: 'lambda', offset, params, body: this.test() };
      }
      const yes = this.#or();
      if (!this.accept('if')) return yes;
      const test = this.#or();
      this.expect('else');
      return { type: 'conditional', offset, test, yes, no: this.test() };
    });
  }

  #or(): Expression {
    return this.#binary(0);
  }

  #not(): Expression {
    const { offset } = this.token;
    if (!this.accept('not')) return this.#comparison();
    return { type: 'unary', offset, operator: 'not', operand: this.deeper(() => this.#not()) };
  }

  #comparison(): Expression {
    const left = this.#binary(FIRST_ARITHMETIC);
    const operator = this.#comparisonOperator();
    if (operator === undefined) return left;
    const right = this.#binary(FIRST_ARITHMETIC);
    const { offset } = this.token;
    if (this.#comparisonOperator() !== undefined) {
      throw new Mistake('syntax', 'parse error: comparisons cannot be chained', offset);
    }
    return { type: 'binary', offset: left.offset, operator, left, right };
  }

  #comparisonOperator(): string | undefined {
    if (this.token.kind === 'op' && COMPARISONS.has(this.token.text)) {
      const { text } = this.token;
      this.at++;
      return text;
    }
    if (this.accept('in')) return 'in';
    if (this.is('not') && this.#tokens[this.at + 1]?.text === 'in') {
      this.at += 2;
      return 'not in';
    }
    return undefined;
  }

  /** Left-associative operators that bind at least as tightly as `level`: precedence climbing. */
  #binary(level: number): Expression {
    const operand = () => (level < FIRST_ARITHMETIC ? this.#not() : this.#unary());
    let left = operand();
    for (let count = 0; ; count++) {
      const { kind, text, offset } = this.token;
      const own = kind === 'op' || kind === 'name' ? LEVELS.get(text) : undefined;
      if (own === undefined || own < level || (level < FIRST_ARITHMETIC && own >= FIRST_ARITHMETIC)) return left;
      if (count > 10_000) throw new Mistake('limit', 'the expression is too long', offset);
      this.at++;
      const right = this.deeper(() => this.#binary(own + 1 === FIRST_ARITHMETIC ? own : own + 1));
      left = { type: 'binary', offset: left.offset, operator: text, left, right };
    }
  }

  #unary(): Expression {
    const { offset, text, kind } = this.token;
    if (kind !== 'op' || !'+-~'.includes(text)) return this.#primary();
    this.at++;
    return { type: 'unary', offset, operator: text, operand: this.deeper(() => this.#unary()) };
  }

  #primary(): Expression {
    let value = this.#atom();
    for (;;) {
      const { offset } = this.token;
      if (this.accept('.')) value = { type: 'attribute', offset, object: value, name: this.identifier().text };
      else if (this.is('(')) value = { type: 'call', offset: value.offset, callee: value, args: this.#arguments() };
      else if (this.accept('[')) value = this.#subscript(value);
      else return value;
    }
  }

  #subscript(object: Expression): Expression {
    const first = this.is(':') ? undefined : this.expressionList();
    if (first && this.accept(']')) return { type: 'index', offset: object.offset, object, index: first };
    const bounds: (Expression | undefined)[] = [first];
    while (bounds.length < 3 && this.accept(':')) {
      bounds.push(this.is(':') || this.is(']') ? undefined : this.test());
    }
    this.expect(']');
    return { type: 'slice', offset: object.offset, object, bounds };
  }

  #arguments(): Argument[] {
    this.expect('(');
    const out: Argument[] = [];
    const names = new Set<string>();
    while (!this.is(')')) {
      const { offset } = this.token;
      const argument = this.#argument();
      if (argument.name !== undefined && names.has(argument.name))
        throw new Mistake('syntax', 'repeated named argument', offset);
      if (argument.kind === 'positional' && out.some((earlier) => earlier.kind !== 'positional')) {
        throw new Mistake('syntax', 'positional argument after non positional', offset);
      }
      if (argument.name !== undefined) names.add(argument.name);
      out.push(argument);
      if (!this.accept(',')) break;
    }
    this.expect(')');
    return out;
  }

  #argument(): Argument {
    if (this.accept('**')) return { kind: 'doubleStar', name: undefined, value: this.test() };
    if (this.accept('*')) return { kind: 'star', name: undefined, value: this.test() };
    const next = this.#tokens[this.at + 1];
    if (this.token.kind === 'name' && next?.kind === 'op' && next.text === '=') {
      const name = this.identifier().text;
      this.at++;
      return { kind: 'named', name, value: this.test() };
    }
    return { kind: 'positional', name: undefined, value: this.test() };
  }

  #atom(): Expression {
    const token = this.token;
    const { offset } = token;
    if (token.kind === 'string') return this.#take({ type: 'literal', offset, value: token.text });
    if (token.kind === 'fstring') return this.#take(this.#fstring(token));
    if (token.kind === 'int') return this.#take({ type: 'literal', offset, value: parseInteger(token) });
    if (token.kind === 'float') return this.#take({ type: 'float', offset, value: Number(token.text) });
    if (this.is('(')) return this.#parenthesis();
    if (this.is('[')) return this.#list();
    if (this.is('{')) return this.#dict();
    if (token.kind !== 'name' || KEYWORDS.has(token.text)) throw this.unexpected('expression');
    if (RESERVED.has(token.text)) throw this.reserved(token);
    const constant = { None: null, True: true, False: false }[token.text];
    return this.#take(
      constant === undefined
        ? { type: 'name', offset, name: token.text }
        : { type: 'literal', offset, value: constant },
    );
  }

  #take(value: Expression): Expression {
    this.at++;
    if (this.token.kind === 'string' || this.token.kind === 'fstring') {
      if (value.type === 'literal' && typeof value.value === 'string') throw this.unexpected('symbol or new line');
    }
    return value;
  }

  #parenthesis(): Expression {
    const { offset } = this.expect('(');
    if (this.accept(')')) return { type: 'tuple', offset, items: [] };
    const value = this.expressionList();
    this.expect(')');
    return value;
  }

  #list(): Expression {
    const { offset } = this.expect('[');
    if (this.accept(']')) return { type: 'list', offset, items: [] };
    const key = this.test();
    if (this.is('for')) {
      const clauses = this.#clauses();
      this.expect(']');
      return { type: 'comprehension', offset, of: 'list', key, value: undefined, clauses };
    }
    const items = [key];
    while (this.accept(',')) {
      if (this.is(']')) break;
      items.push(this.test());
    }
    this.expect(']');
    return { type: 'list', offset, items };
  }

  #dict(): Expression {
    const { offset } = this.expect('{');
    const entries: (readonly [Expression, Expression])[] = [];
    while (!this.is('}')) {
      const key = this.test();
      this.expect(':');
      const value = this.test();
      if (this.is('for') && entries.length === 0) {
        const clauses = this.#clauses();
        this.expect('}');
        return { type: 'comprehension', offset, of: 'dict', key, value, clauses };
      }
      entries.push([key, value]);
      if (!this.accept(',')) break;
    }
    this.expect('}');
    return { type: 'dict', offset, entries };
  }

  #clauses(): Clause[] {
    const out: Clause[] = [];
    for (;;) {
      if (this.accept('for')) {
        const target = this.targets();
        this.expect('in');
        out.push({ type: 'for', target, iterable: this.#or() });
      } else if (this.accept('if')) out.push({ type: 'if', test: this.#or() });
      else return out;
    }
  }

  /** Splits `text {expression} text`; `{{` and `}}` are braces. Format specs are refused (Codex 0.171). */
  #fstring(token: Token): Expression {
    const { offset, raw } = token.inside!;
    const parts: (string | Expression)[] = [];
    let text = '';
    const flush = (end: number) => {
      if (text !== '') parts.push(raw ? text : decodeEscapes(text, end - text.length));
      text = '';
    };
    for (let at = 0; at < token.text.length; at++) {
      const char = token.text[at]!;
      if ((char === '{' || char === '}') && token.text[at + 1] === char) {
        text += char;
        at++;
      } else if (char === '{') {
        flush(offset + at);
        const end = closingBrace(token.text, at, offset);
        parts.push(this.#embedded(token.text.slice(at + 1, end), offset + at + 1));
        at = end;
      } else if (char === '}') throw new Mistake('syntax', "parse error: single '}' in f-string", offset + at);
      else text += char;
    }
    flush(offset + token.text.length);
    return { type: 'fstring', offset: token.offset, parts };
  }

  #embedded(text: string, offset: number): Expression {
    if (text.trim() === '') throw new Mistake('syntax', 'parse error: empty f-string expression', offset);
    try {
      // Brackets keep the lexer from seeing line structure; their offsets are taken off again.
      const tokens = lex(`(${text})`).slice(1, -3);
      const end: Token = { kind: 'end', text: '', offset: text.length + 1 };
      return new ExpressionParser(
        [...tokens, end].map((token) => ({ ...token, offset: token.offset + offset - 1 })),
        this.#depth + 1,
      ).only();
    } catch (error) {
      if (error instanceof Mistake && error.offset !== undefined && error.offset < offset) error.offset += offset - 1;
      throw error;
    }
  }

  protected parameters(end: string, annotated: boolean): Parameter[] {
    const out: Parameter[] = [];
    let keywordOnly = false;
    while (!this.is(end)) {
      const { offset } = this.token;
      if (this.accept('/'))
        throw new Mistake('syntax', '/ positional-only-arguments is not allowed in this dialect', offset);
      if (this.accept('**')) out.push(this.#parameter('kwargs', annotated));
      else if (this.accept('*')) {
        if (!this.is(',') && !this.is(end)) out.push(this.#parameter('args', annotated));
        keywordOnly = true;
      } else out.push(this.#parameter(keywordOnly ? 'keywordOnly' : 'plain', annotated));
      if (!this.accept(',')) break;
    }
    const names = new Set(out.map((parameter) => parameter.name));
    if (names.size !== out.length) throw new Mistake('syntax', 'duplicated parameter name', this.token.offset);
    return out;
  }

  #parameter(kind: Parameter['kind'], annotated: boolean): Parameter {
    const name = this.identifier().text;
    const annotation = annotated && this.accept(':') ? this.test() : undefined;
    const withDefault = kind === 'plain' || kind === 'keywordOnly';
    return { kind, name, annotation, fallback: withDefault && this.accept('=') ? this.test() : undefined };
  }

  protected targets(): Expression {
    const { offset } = this.token;
    const items = [this.#primary()];
    const comma = this.is(',');
    while (this.accept(',')) if (!this.is('in')) items.push(this.#primary());
    const target: Expression = comma ? { type: 'tuple', offset, items } : items[0]!;
    checkTarget(target, '=');
    return target;
  }
}

function closingBrace(text: string, open: number, offset: number): number {
  let depth = 0;
  let quote = '';
  for (let at = open; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if ('{[('.includes(char)) depth++;
    else if ('}])'.includes(char) && --depth === 0) return at;
  }
  throw new Mistake('syntax', "parse error: f-string expression without '}'", offset + open);
}

function parseInteger(token: Token): number {
  const value = Number(token.text);
  if (!Number.isSafeInteger(value)) throw new Mistake('limit', `number ${token.text} is too large`, token.offset);
  return value;
}

export function checkTarget(target: Expression, operator: string): void {
  const items = target.type === 'tuple' || target.type === 'list' ? target.items : [];
  if (items.length > 0 && operator === '=') {
    for (const item of items) checkTarget(item, operator);
    return;
  }
  if (target.type !== 'name' && target.type !== 'index' && target.type !== 'attribute') {
    throw new Mistake('syntax', 'parse error: cannot assign to this expression', target.offset);
  }
}
