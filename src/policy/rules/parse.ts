/** A rules file to its statements. */
import type { Statement } from './ast.js';
import { lex } from './lex.js';
import { checkTarget, ExpressionParser } from './parse-expression.js';
import { Mistake } from './rule-error.js';

const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '//=', '%=', '&=', '|=', '^=', '<<=', '>>=']);

export function parse(text: string): readonly Statement[] {
  return new StatementParser(lex(text)).file();
}

class StatementParser extends ExpressionParser {
  #loops = 0;
  #functions = 0;

  file(): readonly Statement[] {
    const out: Statement[] = [];
    while (this.token.kind !== 'end') {
      if (this.token.kind === 'newline') this.at++;
      else out.push(...this.#statement());
    }
    return out;
  }

  #statement(): Statement[] {
    if (this.is('def')) return [this.deeper(() => this.#def())];
    if (this.is('for')) return [this.deeper(() => this.#for())];
    if (this.is('if')) return [this.deeper(() => this.#if())];
    return this.#simpleLine();
  }

  #simpleLine(): Statement[] {
    const out = [this.#simple()];
    while (this.accept(';')) {
      if (this.token.kind === 'newline') break;
      out.push(this.#simple());
    }
    if (this.token.kind !== 'newline') throw this.unexpected('new line');
    this.at++;
    return out;
  }

  #simple(): Statement {
    const { offset } = this.token;
    if (this.accept('pass') || this.accept('...')) return { type: 'pass', offset };
    if (this.is('break') || this.is('continue')) return this.#loopExit(offset);
    if (this.accept('return')) return this.#return(offset);
    if (this.accept('load')) return this.#load(offset);
    const target = this.expressionList();
    if (this.accept(':')) {
      this.test();
      if (!this.is('=')) return { type: 'pass', offset };
    }
    const operator = this.token.kind === 'op' && ASSIGNMENTS.has(this.token.text) ? this.token.text : undefined;
    if (operator === undefined) return { type: 'expression', offset, value: target };
    checkTarget(target, operator);
    this.at++;
    return { type: 'assign', offset, target, operator, value: this.expressionList() };
  }

  #loopExit(offset: number): Statement {
    const type = this.token.text as 'break' | 'continue';
    if (this.#loops === 0) throw new Mistake('syntax', `\`${type}\` cannot be used outside of a \`for\` loop`, offset);
    this.at++;
    return { type, offset };
  }

  #return(offset: number): Statement {
    if (this.#functions === 0) {
      throw new Mistake('syntax', '`return` cannot be used outside of a `def` function', offset);
    }
    const bare = this.token.kind === 'newline' || this.is(';');
    return { type: 'return', offset, value: bare ? undefined : this.expressionList() };
  }

  #load(offset: number): Statement {
    this.expect('(');
    const module = this.token;
    if (module.kind !== 'string') throw this.unexpected('string literal');
    while (!this.is(')') && this.token.kind !== 'end') this.at++;
    this.expect(')');
    return { type: 'load', offset, module: module.text };
  }

  #def(): Statement {
    const { offset } = this.expect('def');
    const name = this.identifier().text;
    this.expect('(');
    const params = this.parameters(')', true);
    this.expect(')');
    const returns = this.accept('->') ? this.test() : undefined;
    this.#functions++;
    const loops = this.#loops;
    this.#loops = 0;
    const body = this.#suite();
    this.#loops = loops;
    this.#functions--;
    return { type: 'def', offset, name, params, returns, body };
  }

  #for(): Statement {
    const { offset } = this.expect('for');
    const target = this.targets();
    this.expect('in');
    const iterable = this.expressionList();
    this.#loops++;
    const body = this.#suite();
    this.#loops--;
    return { type: 'for', offset, target, iterable, body };
  }

  #if(): Statement {
    const { offset } = this.token;
    this.at++;
    const test = this.test();
    const then = this.#suite();
    if (this.is('elif')) return { type: 'if', offset, test, then, otherwise: [this.deeper(() => this.#if())] };
    return { type: 'if', offset, test, then, otherwise: this.accept('else') ? this.#suite() : [] };
  }

  #suite(): Statement[] {
    this.expect(':');
    if (!this.acceptKind('newline')) return this.#simpleLine();
    if (!this.acceptKind('indent')) throw this.unexpected('indentation');
    const out: Statement[] = [];
    while (this.token.kind !== 'dedent' && this.token.kind !== 'end') out.push(...this.#statement());
    if (this.token.kind === 'dedent') this.at++;
    return out;
  }
}
