/**
 * One lock per canonical path, for this process. Patches of different files run side by side; patches of one file wait
 * for each other. Paths are taken in sorted order, so two callers can never wait for each other in a circle.
 */
const tails = new Map<string, Promise<void>>();

/** Runs `action` while holding all `paths`. An abort while waiting rejects with `signal.reason`; later it is `action`'s. */
export async function withPathLocks<T>(
  paths: readonly string[],
  signal: AbortSignal,
  action: () => Promise<T>,
): Promise<T> {
  const held: (() => void)[] = [];
  try {
    for (const path of [...new Set(paths)].sort()) held.push(await lock(path, signal));
    return await action();
  } finally {
    for (const release of held.reverse()) release();
  }
}

async function lock(path: string, signal: AbortSignal): Promise<() => void> {
  signal.throwIfAborted();
  const before = tails.get(path);
  let open!: () => void;
  const mine = new Promise<void>((resolve) => {
    open = resolve;
  });
  const tail = before === undefined ? mine : before.then(() => mine);
  tails.set(path, tail);
  const release = () => {
    if (tails.get(path) === tail) tails.delete(path);
    open();
  };
  if (before === undefined) return release;
  try {
    await waitFor(before, signal);
    return release;
  } catch (reason) {
    release();
    throw reason;
  }
}

function waitFor(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    void turn.then(() => {
      signal.removeEventListener('abort', leave);
      resolve();
    }); // `turn` never rejects
  });
}
