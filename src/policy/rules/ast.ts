/** Syntax tree of a rules file. `offset` is where an error about the node points. */
export type Expression =
  | { readonly type: 'literal'; readonly offset: number; readonly value: null | boolean | string | number }
  | { readonly type: 'float'; readonly offset: number; readonly value: number }
  | { readonly type: 'name'; readonly offset: number; readonly name: string }
  | { readonly type: 'fstring'; readonly offset: number; readonly parts: readonly (string | Expression)[] }
  | { readonly type: 'list' | 'tuple'; readonly offset: number; readonly items: readonly Expression[] }
  | { readonly type: 'dict'; readonly offset: number; readonly entries: readonly (readonly [Expression, Expression])[] }
  | {
      readonly type: 'comprehension';
      readonly offset: number;
      readonly of: 'list' | 'dict';
      readonly key: Expression;
      readonly value: Expression | undefined;
      readonly clauses: readonly Clause[];
    }
  | {
      readonly type: 'call';
      readonly offset: number;
      readonly callee: Expression;
      readonly args: readonly Argument[];
    }
  | { readonly type: 'attribute'; readonly offset: number; readonly object: Expression; readonly name: string }
  | { readonly type: 'index'; readonly offset: number; readonly object: Expression; readonly index: Expression }
  | {
      readonly type: 'slice';
      readonly offset: number;
      readonly object: Expression;
      readonly bounds: readonly (Expression | undefined)[];
    }
  | { readonly type: 'unary'; readonly offset: number; readonly operator: string; readonly operand: Expression }
  | {
      readonly type: 'binary';
      readonly offset: number;
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly type: 'conditional';
      readonly offset: number;
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression;
    }
  | {
      readonly type: 'lambda';
      readonly offset: number;
      readonly params: readonly Parameter[];
      readonly body: Expression;
    };

export type Clause =
  | { readonly type: 'for'; readonly target: Expression; readonly iterable: Expression }
  | { readonly type: 'if'; readonly test: Expression };

export interface Argument {
  readonly kind: 'positional' | 'named' | 'star' | 'doubleStar';
  readonly name: string | undefined;
  readonly value: Expression;
}

export interface Parameter {
  readonly kind: 'plain' | 'keywordOnly' | 'args' | 'kwargs';
  readonly name: string;
  readonly fallback: Expression | undefined;
  readonly annotation: Expression | undefined;
}

export type Statement =
  | { readonly type: 'expression'; readonly offset: number; readonly value: Expression }
  | {
      readonly type: 'assign';
      readonly offset: number;
      readonly target: Expression;
      readonly operator: string;
      readonly value: Expression;
    }
  | { readonly type: 'load'; readonly offset: number; readonly module: string }
  | {
      readonly type: 'def';
      readonly offset: number;
      readonly name: string;
      readonly params: readonly Parameter[];
      readonly returns: Expression | undefined;
      readonly body: readonly Statement[];
    }
  | {
      readonly type: 'for';
      readonly offset: number;
      readonly target: Expression;
      readonly iterable: Expression;
      readonly body: readonly Statement[];
    }
  | {
      readonly type: 'if';
      readonly offset: number;
      readonly test: Expression;
      readonly then: readonly Statement[];
      readonly otherwise: readonly Statement[];
    }
  | { readonly type: 'return'; readonly offset: number; readonly value: Expression | undefined }
  | { readonly type: 'break' | 'continue' | 'pass'; readonly offset: number };
