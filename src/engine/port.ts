/** What front-ends hold: an engine and its threads. */

import type { TurnSettings } from '../protocol/index.js';
import type { Thread } from '../thread/index.js';

export interface StartOptions {
  readonly settings: TurnSettings;
  /** Where the thread comes from: `exec`, `sdk`, `app-server` … */
  readonly source: string;
  readonly threadId?: string;
}

export interface ResumeOptions {
  readonly settings?: Partial<TurnSettings>;
  /** Go on with a turn that a crash cut. Default false: it is closed as interrupted. */
  readonly continueTurn?: boolean;
}

export interface Engine extends AsyncDisposable {
  start(options: StartOptions): Promise<Thread>;
  resume(threadId: string, options?: ResumeOptions): Promise<Thread>;
  /** A new thread with the history up to and including record `atSeq`. */
  fork(threadId: string, atSeq: number): Promise<Thread>;
}
