/** Words of the thread that front-ends and the engine share. */

export type ThreadStatus =
  | { readonly kind: 'idle' }
  | { readonly kind: 'active'; readonly waitingOn: readonly ('approval' | 'userInput')[] };

export type { InputRefusal as SteerRefusal } from '../turn/index.js';
