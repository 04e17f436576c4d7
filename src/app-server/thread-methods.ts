/** `thread/*`: opening, looking at, naming and leaving threads. */
import { listThreads, nameThread, type ThreadSummary } from '../engine/index.js';
import type { OpenThread } from './open-thread.js';
import {
  invalid,
  optionalCount,
  optionalFlag,
  optionalList,
  optionalText,
  optionalWord,
  requiredText,
} from './params.js';
import { INVALID_REQUEST, type Params, RpcFailure } from './rpc.js';
import type { Methods } from './server.js';
import { wireSandbox } from './settings.js';
import { loadHistory, type WireTurn } from './thread-history.js';
import type { Threads } from './threads.js';
import { factsOfSummary, sourceKind, wireThread } from './wire-thread.js';

export function threadMethods(threads: Threads): Methods {
  return {
    async 'thread/start'(params) {
      const open = await threads.start(params);
      const thread = wireThread(open.facts);
      setImmediate(() => threads.peer.notify('thread/started', { thread })); // behind the reply
      return opened(open, []);
    },
    async 'thread/resume'(params) {
      const id = await threads.idOf(requiredText(params, 'threadId'));
      const open = await threads.resume(id, params);
      const turns = optionalFlag(params, 'excludeTurns') ? [] : await turnsOf(threads, open);
      setImmediate(() => open.subscribe()); // behind the reply
      return opened(open, turns);
    },
    async 'thread/unsubscribe'(params) {
      const open = threads.find(requiredText(params, 'threadId'));
      if (!open) return { status: 'notLoaded' };
      if (!open.subscribed) return { status: 'notSubscribed' };
      setImmediate(() => open.unsubscribe()); // behind the reply
      return { status: 'unsubscribed' };
    },
    async 'thread/read'(params) {
      return { thread: await readThread(threads, params) };
    },
    async 'thread/list'(params) {
      return listPage(threads, params);
    },
    async 'thread/loaded/list'() {
      return { data: threads.ids, nextCursor: null };
    },
    async 'thread/name/set'(params) {
      const name = requiredText(params, 'name').trim();
      if (name === '') throw invalid('name', 'it must not be empty');
      const id = await threads.idOf(requiredText(params, 'threadId'));
      await nameThread(threads.io.home, id, name, Date.now());
      const open = threads.find(id);
      if (open) open.name = name;
      setImmediate(() => threads.peer.notify('thread/name/updated', { threadId: id, threadName: name }));
      return {};
    },
  };
}

function opened(open: OpenThread, turns: readonly WireTurn[]): unknown {
  const { settings } = open;
  return {
    thread: wireThread({ ...open.facts, turns }),
    model: settings.model,
    modelProvider: settings.provider,
    cwd: settings.cwd,
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: 'user',
    sandbox: wireSandbox(settings.sandbox),
    reasoningEffort: settings.reasoningEffort ?? null,
    serviceTier: null,
    instructionSources: [],
  };
}

/** Threads kept in memory, and those without a turn, have no file to read turns from. */
async function turnsOf(threads: Threads, open: OpenThread): Promise<readonly WireTurn[]> {
  if (open.facts.path === undefined || !open.hasTurns) return [];
  return (await loadHistory(threads.io.home, open.thread.id)).turns;
}

async function readThread(threads: Threads, params: Params): Promise<unknown> {
  const withTurns = optionalFlag(params, 'includeTurns');
  const id = await threads.idOf(requiredText(params, 'threadId'));
  const open = threads.find(id);
  if (open) {
    if (withTurns && open.facts.path === undefined)
      throw new RpcFailure(INVALID_REQUEST, 'an ephemeral thread keeps no turns to include');
    return wireThread({ ...open.facts, turns: withTurns ? await turnsOf(threads, open) : [] });
  }
  const listed = await listThreads({ home: threads.io.home, limit: Number.POSITIVE_INFINITY });
  const summary = listed.find((one) => one.threadId === id);
  if (!summary) throw new RpcFailure(INVALID_REQUEST, `thread ${id} cannot be read`);
  const turns = withTurns ? (await loadHistory(threads.io.home, id)).turns : [];
  return wireThread({ ...factsOfSummary(summary, undefined), turns });
}

const DEFAULT_PAGE = 25;
const LARGEST_PAGE = 100;

/** Newest first unless asked otherwise. A cursor is the id of the last thread of the page before. */
async function listPage(threads: Threads, params: Params): Promise<unknown> {
  const limit = Math.min(optionalCount(params, 'limit', 1) ?? DEFAULT_PAGE, LARGEST_PAGE);
  const sortKey = optionalWord(params, 'sortKey', ['created_at', 'updated_at', 'recency_at']) ?? 'recency_at';
  const ascending = optionalWord(params, 'sortDirection', ['asc', 'desc']) === 'asc';
  const cursor = optionalText(params, 'cursor');
  const fits = listFilter(params);
  const all = optionalFlag(params, 'archived')
    ? [] // nothing is ever archived
    : await listThreads({ home: threads.io.home, limit: Number.POSITIVE_INFINITY });
  const time = (one: ThreadSummary) => (sortKey === 'created_at' ? one.createdAtMs : one.updatedAtMs);
  const sorted = all.filter(fits).sort((a, b) => (ascending ? time(a) - time(b) : time(b) - time(a)));
  const start = cursor === undefined ? 0 : sorted.findIndex((one) => one.threadId === cursor) + 1;
  if (cursor !== undefined && start === 0) throw invalid('cursor', 'it does not come from this list');
  const page = sorted.slice(start, start + limit);
  return {
    data: page.map((one) => wireThread(factsOfSummary(one, threads.find(one.threadId)?.thread.status))),
    nextCursor: start + limit < sorted.length ? (page.at(-1)?.threadId ?? null) : null,
    backwardsCursor: null,
  };
}

function listFilter(params: Params): (one: ThreadSummary) => boolean {
  const folders = typeof params['cwd'] === 'string' ? [params['cwd']] : optionalList(params, 'cwd');
  const providers = optionalList(params, 'modelProviders') ?? [];
  const kinds = optionalList(params, 'sourceKinds') ?? [];
  const term = optionalText(params, 'searchTerm')?.toLowerCase();
  return ({ settings, preview, name }) =>
    (folders === undefined || folders.includes(settings.turn.cwd)) &&
    (providers.length === 0 || providers.includes(settings.turn.provider)) &&
    (kinds.length === 0 || kinds.includes(sourceKind(settings.source))) &&
    (term === undefined || `${name ?? ''}\n${preview}`.toLowerCase().includes(term));
}
