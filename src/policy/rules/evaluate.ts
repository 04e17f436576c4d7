/**
 * Runs a rules file. Total and without side effects: no loader, no I/O, no clock; steps, call depth and the size of
 * values are capped, because a project's file is written by whoever wrote the project.
 */

import { annotationOf } from './annotations.js';
import type { Argument, Clause, Expression, Parameter, Statement } from './ast.js';
import { bindParameters } from './bind-parameters.js';
import { attribute } from './methods.js';
import { apply, indexValue, sliceValue, unary } from './operators.js';
import { localNames } from './resolve.js';
import { Mistake } from './rule-error.js';
import {
  type CallArguments,
  Callable,
  Dict,
  Float,
  iterate,
  List,
  Tuple,
  toText,
  truth,
  typeName,
  type Value,
} from './values.js';

export const MAX_STEPS = 10_000_000;
const MAX_CALL_DEPTH = 100;

/** Where the call that runs right now stands in the text; rule functions read it to know their own place. */
export interface CallSite {
  offset: number;
}

/** Runs the statements with the given globals, keeping `site` at the call being made. */
export function evaluate(file: readonly Statement[], globals: ReadonlyMap<string, Value>, site: CallSite): void {
  new Interpreter(globals, site).run(file);
}

class Frame {
  readonly names = new Map<string, Value>();
  readonly outer: Frame | undefined;
  /** Names that belong here; an unassigned one is an error, not a look further out. */
  readonly locals: ReadonlySet<string>;

  constructor(outer: Frame | undefined, locals: ReadonlySet<string>) {
    this.outer = outer;
    this.locals = locals;
  }
}

type Exit = { readonly kind: 'break' | 'continue' } | { readonly kind: 'return'; readonly value: Value };

class Interpreter {
  readonly #builtins: ReadonlyMap<string, Value>;
  readonly #site: CallSite;
  #steps = 0;
  #depth = 0;

  constructor(builtins: ReadonlyMap<string, Value>, site: CallSite) {
    this.#builtins = builtins;
    this.#site = site;
  }

  run(file: readonly Statement[]): void {
    this.#block(file, new Frame(undefined, new Set()));
  }

  #step(cost = 1): void {
    this.#steps += cost;
    if (this.#steps > MAX_STEPS) throw new Mistake('limit', `the file takes more than ${MAX_STEPS} steps`);
  }

  /** Gives a mistake without a place the offset of the innermost expression or statement around it. */
  #at<T>(offset: number, run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof Mistake && error.offset === undefined) error.offset = offset;
      throw error;
    }
  }

  // ---- statements

  #block(body: readonly Statement[], frame: Frame): Exit | undefined {
    for (const statement of body) {
      const exit = this.#statement(statement, frame);
      if (exit) return exit;
    }
    return undefined;
  }

  #statement(statement: Statement, frame: Frame): Exit | undefined {
    this.#step();
    switch (statement.type) {
      case 'expression':
        this.#value(statement.value, frame);
        return undefined;
      case 'assign':
        this.#at(statement.offset, () => this.#assignment(statement, frame));
        return undefined;
      case 'def':
        frame.names.set(
          statement.name,
          this.#function(statement.name, statement.params, statement.body, undefined, frame),
        );
        return undefined;
      case 'if':
        return this.#block(truth(this.#value(statement.test, frame)) ? statement.then : statement.otherwise, frame);
      case 'for':
        return this.#for(statement, frame);
      case 'return':
        return { kind: 'return', value: statement.value ? this.#value(statement.value, frame) : null };
      case 'break':
      case 'continue':
        return { kind: statement.type };
      default:
        return undefined;
    }
  }

  #assignment(statement: Extract<Statement, { type: 'assign' }>, frame: Frame): void {
    if (statement.operator === '=') {
      this.#assign(statement.target, this.#value(statement.value, frame), frame);
      return;
    }
    const old = this.#value(statement.target, frame);
    const operand = this.#value(statement.value, frame);
    const operator = statement.operator.slice(0, -1);
    if (operator === '+' && old instanceof List) {
      if (old.loops > 0) throw new Mistake('runtime_error', 'cannot change a value while looping over it');
      for (const item of [...iterate(operand)]) old.items.push(item);
      this.#charge(old);
      return;
    }
    this.#assign(statement.target, this.#charge(apply(operator, old, operand)), frame);
  }

  #assign(target: Expression, value: Value, frame: Frame): void {
    if (target.type === 'name') frame.names.set(target.name, value);
    else if (target.type === 'tuple' || target.type === 'list') {
      const items = iterate(value);
      if (items.length !== target.items.length) {
        throw new Mistake('runtime_error', `expected ${target.items.length} values to unpack, got ${items.length}`);
      }
      for (const [i, item] of target.items.entries()) this.#assign(item, items[i]!, frame);
    } else if (target.type === 'index') this.#assignIndex(target, value, frame);
    else throw new Mistake('type_error', 'cannot assign to an attribute');
  }

  #assignIndex(target: Extract<Expression, { type: 'index' }>, value: Value, frame: Frame): void {
    const object = this.#value(target.object, frame);
    const index = this.#value(target.index, frame);
    if ((object instanceof List || object instanceof Dict) && object.loops > 0) {
      throw new Mistake('runtime_error', 'cannot change a value while looping over it');
    }
    if (object instanceof Dict) object.set(index, value);
    else if (object instanceof List && typeof index === 'number') {
      const at = index < 0 ? index + object.items.length : index;
      if (at < 0 || at >= object.items.length) throw new Mistake('runtime_error', `index \`${index}\` is out of bound`);
      object.items[at] = value;
    } else throw new Mistake('type_error', 'operation `[]=` not supported on this type');
  }

  #for(statement: Extract<Statement, { type: 'for' }>, frame: Frame): Exit | undefined {
    const over = this.#value(statement.iterable, frame);
    const items = this.#at(statement.offset, () => iterate(over));
    return looping(over, () => {
      for (const item of items) {
        this.#step();
        this.#at(statement.offset, () => this.#assign(statement.target, item, frame));
        const exit = this.#block(statement.body, frame);
        if (exit?.kind === 'return') return exit;
        if (exit?.kind === 'break') break;
      }
      return undefined;
    });
  }

  // ---- functions

  #function(
    name: string,
    params: readonly Parameter[],
    body: readonly Statement[],
    result: Expression | undefined,
    outer: Frame,
  ): Callable {
    const locals = localNames(params, body);
    const fallbacks = params.map(({ fallback }) => fallback && this.#value(fallback, outer));
    const types = params.map(({ annotation }) => annotation && annotationOf(this.#value(annotation, outer)));
    return new Callable(name, (args) => {
      const frame = new Frame(outer, locals);
      bindParameters(name, params, fallbacks, args, frame.names);
      for (const [i, parameter] of params.entries()) {
        const value = frame.names.get(parameter.name);
        const type = parameter.kind === 'args' || parameter.kind === 'kwargs' ? undefined : types[i];
        if (value === undefined || !type || type.accepts(value)) continue;
        throw new Mistake(
          'type_error',
          `value \`${toText(value)}\` does not match the type annotation \`${type.text}\` for argument \`${parameter.name}\``,
        );
      }
      if (++this.#depth > MAX_CALL_DEPTH) throw new Mistake('recursion', 'call stack overflow (too much recursion)');
      try {
        if (result) return this.#value(result, frame);
        const exit = this.#block(body, frame);
        return exit?.kind === 'return' ? exit.value : null;
      } finally {
        this.#depth--;
      }
    });
  }

  // ---- expressions

  #value(expression: Expression, frame: Frame): Value {
    this.#step();
    switch (expression.type) {
      case 'literal':
        return expression.value;
      case 'name':
        return this.#name(expression.name, expression.offset, frame);
      case 'list':
        return new List(expression.items.map((item) => this.#value(item, frame)));
      case 'tuple':
        return new Tuple(expression.items.map((item) => this.#value(item, frame)));
      case 'lambda':
        return this.#function('lambda', expression.params, [], expression.body, frame);
      case 'conditional':
        return this.#value(truth(this.#value(expression.test, frame)) ? expression.yes : expression.no, frame);
      case 'call':
        return this.#call(expression, frame);
      default:
        return this.#at(expression.offset, () => this.#compound(expression, frame));
    }
  }

  #compound(expression: Expression, frame: Frame): Value {
    switch (expression.type) {
      case 'float':
        return new Float(expression.value);
      case 'fstring':
        return this.#charge(
          expression.parts.map((part) => (typeof part === 'string' ? part : toText(this.#value(part, frame)))).join(''),
        );
      case 'dict':
        return this.#dict(expression.entries, frame);
      case 'comprehension':
        return this.#comprehension(expression, frame);
      case 'attribute':
        return this.#attribute(this.#value(expression.object, frame), expression.name);
      case 'index':
        return indexValue(this.#value(expression.object, frame), this.#value(expression.index, frame));
      case 'slice': {
        const bounds = expression.bounds.map((bound) => bound && this.#value(bound, frame));
        return this.#charge(sliceValue(this.#value(expression.object, frame), bounds));
      }
      case 'unary':
        return unary(expression.operator, this.#value(expression.operand, frame));
      case 'binary':
        return this.#binary(expression, frame);
      default:
        return null;
    }
  }

  #name(name: string, offset: number, frame: Frame): Value {
    for (let at: Frame | undefined = frame; at; at = at.outer) {
      const value = at.names.get(name);
      if (value !== undefined) return value;
      if (at.locals.has(name)) break;
    }
    const builtin = frame.locals.has(name) ? undefined : this.#builtins.get(name);
    if (builtin === undefined)
      throw new Mistake('runtime_error', `variable \`${name}\` referenced before assignment`, offset);
    return builtin;
  }

  #dict(entries: readonly (readonly [Expression, Expression])[], frame: Frame): Value {
    const made = new Dict();
    for (const [key, value] of entries) made.set(this.#value(key, frame), this.#value(value, frame));
    return made;
  }

  #binary(expression: Extract<Expression, { type: 'binary' }>, frame: Frame): Value {
    const left = this.#value(expression.left, frame);
    if (expression.operator === 'and') return truth(left) ? this.#value(expression.right, frame) : left;
    if (expression.operator === 'or') return truth(left) ? left : this.#value(expression.right, frame);
    return this.#charge(apply(expression.operator, left, this.#value(expression.right, frame)));
  }

  #attribute(object: Value, name: string): Value {
    const value = attribute(object, name);
    if (value === undefined) throw new Mistake('type_error', `object of this type has no attribute \`${name}\``);
    return value;
  }

  #call(expression: Extract<Expression, { type: 'call' }>, frame: Frame): Value {
    const callee = this.#value(expression.callee, frame);
    return this.#at(expression.offset, () => {
      if (!(callee instanceof Callable)) {
        throw new Mistake('type_error', `operation \`call()\` not supported on type \`${typeName(callee)}\``);
      }
      const args = this.#arguments(expression.args, frame);
      this.#site.offset = expression.offset;
      return this.#charge(callee.call(args));
    });
  }

  #arguments(args: readonly Argument[], frame: Frame): CallArguments {
    const positional: Value[] = [];
    const named = new Map<string, Value>();
    for (const argument of args) {
      const value = this.#value(argument.value, frame);
      if (argument.kind === 'positional') positional.push(value);
      else if (argument.kind === 'named') named.set(argument.name!, value);
      else if (argument.kind === 'star') for (const item of iterate(value)) positional.push(item);
      else this.#spreadNamed(value, named);
    }
    return { positional, named };
  }

  #spreadNamed(value: Value, named: Map<string, Value>): void {
    if (!(value instanceof Dict)) throw new Mistake('type_error', 'argument after ** must be a dict');
    for (const [key, item] of value.entries.values()) {
      if (typeof key !== 'string') throw new Mistake('type_error', 'keys of ** arguments must be a string');
      if (named.has(key)) throw new Mistake('type_error', `argument \`${key}\` occurs more than once`);
      named.set(key, item);
    }
  }

  #comprehension(expression: Extract<Expression, { type: 'comprehension' }>, outer: Frame): Value {
    const list = new List([]);
    const dict = new Dict();
    const frame = new Frame(outer, new Set());
    this.#clauses(expression.clauses, 0, frame, () => {
      const key = this.#value(expression.key, frame);
      if (expression.value) dict.set(key, this.#value(expression.value, frame));
      else list.items.push(key);
    });
    return expression.of === 'dict' ? dict : list;
  }

  #clauses(clauses: readonly Clause[], index: number, frame: Frame, emit: () => void): void {
    const clause = clauses[index];
    if (!clause) {
      emit();
      return;
    }
    if (clause.type === 'if') {
      if (truth(this.#value(clause.test, frame))) this.#clauses(clauses, index + 1, frame, emit);
      return;
    }
    for (const item of iterate(this.#value(clause.iterable, frame))) {
      this.#step();
      this.#assign(clause.target, item, frame);
      this.#clauses(clauses, index + 1, frame, emit);
    }
  }

  /** Big values cost steps, so that doubling a string or list reaches the cap early. */
  #charge(value: Value): Value {
    if (typeof value === 'string') this.#step(value.length >> 3);
    else if (value instanceof List) this.#step(value.items.length >> 3);
    return value;
  }
}

function looping<T>(over: Value, run: () => T): T {
  if (!(over instanceof List) && !(over instanceof Dict)) return run();
  over.loops++;
  try {
    return run();
  } finally {
    over.loops--;
  }
}
