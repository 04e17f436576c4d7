/**
 * Names are resolved before anything runs: an unknown name in a branch that never runs, or in a function that nobody
 * calls, is an error all the same (Codex 0.171).
 */
import type { Clause, Expression, Parameter, Statement } from './ast.js';
import { Mistake } from './rule-error.js';

export function resolveNames(file: readonly Statement[], builtins: ReadonlySet<string>): void {
  const scope = new Scope(undefined, assignedNames(file), builtins);
  for (const statement of file) checkStatement(statement, scope);
}

/** Names a function body or a file assigns; in a function they are its locals. */
export function assignedNames(body: readonly Statement[]): Set<string> {
  const names = new Set<string>();
  const visit = (statement: Statement): void => {
    if (statement.type === 'assign' || statement.type === 'for') addTargets(statement.target, names);
    if (statement.type === 'def') names.add(statement.name);
    if (statement.type === 'for') statement.body.forEach(visit);
    if (statement.type === 'if') [...statement.then, ...statement.otherwise].forEach(visit);
  };
  body.forEach(visit);
  return names;
}

function addTargets(target: Expression, names: Set<string>): void {
  if (target.type === 'name') names.add(target.name);
  if (target.type === 'tuple' || target.type === 'list') for (const item of target.items) addTargets(item, names);
}

class Scope {
  readonly #outer: Scope | undefined;
  readonly #names: ReadonlySet<string>;
  readonly #builtins: ReadonlySet<string>;

  constructor(outer: Scope | undefined, names: ReadonlySet<string>, builtins: ReadonlySet<string>) {
    this.#outer = outer;
    this.#names = names;
    this.#builtins = builtins;
  }

  inner(names: ReadonlySet<string>): Scope {
    return new Scope(this, names, this.#builtins);
  }

  check(name: string, offset: number): void {
    for (let scope: Scope | undefined = this; scope; scope = scope.#outer) if (scope.#names.has(name)) return;
    if (!this.#builtins.has(name)) throw new Mistake('unknown_name', `variable \`${name}\` not found`, offset);
  }
}

function checkStatement(statement: Statement, scope: Scope): void {
  switch (statement.type) {
    case 'expression':
      checkExpression(statement.value, scope);
      return;
    case 'assign':
      if (statement.target.type !== 'name' || statement.operator !== '=') checkExpression(statement.target, scope);
      checkExpression(statement.value, scope);
      return;
    case 'def':
      checkParameters(statement.params, scope);
      if (statement.returns) checkExpression(statement.returns, scope);
      checkBody(statement.body, scope.inner(localNames(statement.params, statement.body)));
      return;
    case 'for':
      checkExpression(statement.iterable, scope);
      checkExpression(statement.target, scope);
      checkBody(statement.body, scope);
      return;
    case 'if':
      checkExpression(statement.test, scope);
      checkBody(statement.then, scope);
      checkBody(statement.otherwise, scope);
      return;
    case 'return':
      if (statement.value) checkExpression(statement.value, scope);
      return;
    case 'load':
      throw new Mistake(
        'load_unsupported',
        `load is not available in rules files (tried \`${statement.module}\`)`,
        statement.offset,
      );
    default:
      return;
  }
}

export function localNames(params: readonly Parameter[], body: readonly Statement[]): Set<string> {
  const names = assignedNames(body);
  for (const parameter of params) names.add(parameter.name);
  return names;
}

function checkBody(body: readonly Statement[], scope: Scope): void {
  for (const statement of body) checkStatement(statement, scope);
}

function checkParameters(params: readonly Parameter[], scope: Scope): void {
  for (const { fallback, annotation } of params) {
    if (fallback) checkExpression(fallback, scope);
    if (annotation) checkExpression(annotation, scope);
  }
}

function checkExpression(expression: Expression, scope: Scope): void {
  switch (expression.type) {
    case 'name':
      scope.check(expression.name, expression.offset);
      return;
    case 'fstring':
      for (const part of expression.parts) if (typeof part !== 'string') checkExpression(part, scope);
      return;
    case 'list':
    case 'tuple':
      for (const item of expression.items) checkExpression(item, scope);
      return;
    case 'dict':
      for (const [key, value] of expression.entries) {
        checkExpression(key, scope);
        checkExpression(value, scope);
      }
      return;
    case 'comprehension':
      checkComprehension(expression.clauses, [expression.key, expression.value], scope);
      return;
    case 'call':
      checkExpression(expression.callee, scope);
      for (const argument of expression.args) checkExpression(argument.value, scope);
      return;
    case 'attribute':
      checkExpression(expression.object, scope);
      return;
    case 'index':
      checkExpression(expression.object, scope);
      checkExpression(expression.index, scope);
      return;
    case 'slice':
      checkExpression(expression.object, scope);
      for (const bound of expression.bounds) if (bound) checkExpression(bound, scope);
      return;
    case 'unary':
      checkExpression(expression.operand, scope);
      return;
    case 'binary':
      checkExpression(expression.left, scope);
      checkExpression(expression.right, scope);
      return;
    case 'conditional':
      for (const part of [expression.test, expression.yes, expression.no]) checkExpression(part, scope);
      return;
    case 'lambda':
      checkParameters(expression.params, scope);
      checkExpression(expression.body, scope.inner(localNames(expression.params, [])));
      return;
    default:
      return;
  }
}

function checkComprehension(
  clauses: readonly Clause[],
  results: readonly (Expression | undefined)[],
  outer: Scope,
): void {
  let scope = outer;
  for (const clause of clauses) {
    if (clause.type === 'if') checkExpression(clause.test, scope);
    else {
      checkExpression(clause.iterable, scope);
      const names = new Set<string>();
      addTargets(clause.target, names);
      scope = scope.inner(names);
    }
  }
  for (const result of results) if (result) checkExpression(result, scope);
}
