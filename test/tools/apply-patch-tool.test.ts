/** The tool as the engine sees it, and the turn's net diff. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Attempt, CallContext } from '../../src/orchestrator/index.js';
import type { ApprovalPolicy, SandboxPolicy, ToolPayload } from '../../src/protocol/index.js';
import { createPlainBackend } from '../../src/sandbox/index.js';
import { createApplyPatchTool, createTurnDiffTracker } from '../../src/tools/apply-patch/index.js';

const signal = new AbortController().signal;
let base: string;
let dir: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'patch-tool-')));
  dir = join(base, 'work');
  mkdirSync(dir);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const patchText = (body: string) => `*** Begin Patch\n${body}\n*** End Patch\n`;
const custom = (input: string): ToolPayload => ({ kind: 'custom', input });
const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
const read = (name: string) => readFileSync(join(dir, name), 'utf8');

/** `/tmp` is kept out of the roots: the test's own directories lie there. */
function context(policy: ApprovalPolicy = 'never', sandbox: Partial<SandboxPolicy> = {}): CallContext {
  return {
    threadId: 't',
    turnId: 'turn',
    callId: 'c',
    tool: 'apply_patch',
    payloadKind: 'custom',
    settings: {
      model: 'm',
      provider: 'p',
      cwd: dir,
      approvalPolicy: policy,
      sandbox: {
        mode: 'workspace-write',
        writableRoots: [dir],
        excludeSlashTmp: true,
        excludeTmpdirEnvVar: true,
        readOnly: [],
        denyRead: [],
        git: 'read-only',
        network: { kind: 'off' },
        unixSockets: 'deny',
        landlockFallback: false,
        ...sandbox,
      },
      steerDelivery: 'next_step',
      budget: {},
      policyFingerprint: '',
    },
    emit() {},
    async record() {},
  };
}

async function call(tool: ReturnType<typeof createApplyPatchTool>, payload: ToolPayload, at = context()) {
  const args = await tool.parse(payload, at);
  if (!('targets' in args)) throw new Error('redirected');
  const attempt: Attempt = { number: 1, sandbox: at.settings.sandbox, backend: createPlainBackend() };
  return { args, requirement: await tool.requirement?.(args, at), run: () => tool.run(args, attempt, at, signal) };
}

async function textOfFailure(
  tool: ReturnType<typeof createApplyPatchTool>,
  payload: ToolPayload,
  at = context(),
): Promise<string> {
  return call(tool, payload, at).then(
    () => 'no failure',
    (error: Error) => error.message,
  );
}

describe('a patch that fits', () => {
  test('is shown sorted, applied, and reported with its diff', async () => {
    put('a.txt', 'alpha\nbeta\n');
    put('d.txt', 'x\n');
    const tool = createApplyPatchTool();
    const body = '*** Add File: n.txt\n+new\n*** Update File: a.txt\n@@\n-beta\n+BETA\n*** Delete File: d.txt';
    const { args, requirement, run } = await call(tool, custom(patchText(body)));
    expect(tool.view(args, context())).toEqual({
      type: 'fileChange',
      changes: [
        { path: join(dir, 'a.txt'), kind: 'update', diff: expect.stringContaining('-beta\n+BETA\n') },
        { path: join(dir, 'd.txt'), kind: 'delete', diff: expect.stringContaining('deleted file mode') },
        { path: join(dir, 'n.txt'), kind: 'add', diff: expect.stringContaining('@@ -0,0 +1 @@\n+new\n') },
      ],
    });
    expect(requirement).toEqual({ kind: 'skip', bypassSandbox: false });
    const outcome = await run();
    expect(outcome).toMatchObject({
      kind: 'ok',
      report: { type: 'fileChange', changes: args.changes, diff: args.diff },
    });
    expect('text' in outcome && outcome.text).toMatch(
      /^Exit code: 0\nWall time: \d+\.\d seconds\nOutput:\nSuccess\. Updated the following files:\nA n\.txt\nM a\.txt\nD d\.txt\n$/,
    );
    expect([read('a.txt'), read('n.txt')]).toEqual(['alpha\nBETA\n', 'new\n']);
  });

  test('comes in the function form as well, and in what models wrap it in', async () => {
    const tool = createApplyPatchTool();
    const patch = patchText('*** Add File: x\n+1');
    const payloads: ToolPayload[] = [
      { kind: 'function', arguments: JSON.stringify({ input: patch }) },
      { kind: 'function', arguments: JSON.stringify({ command: ['apply_patch', patch] }) },
      { kind: 'function', arguments: patch },
      custom(JSON.stringify(['apply_patch', patch])),
      custom(`\`\`\`\n${patch}\`\`\``),
    ];
    for (const payload of payloads) {
      const { args } = await call(tool, payload);
      expect(args.changes).toMatchObject([{ path: join(dir, 'x'), kind: 'add' }]);
    }
  });

  test('a move names both paths', async () => {
    put('a', 'x\n');
    const { args } = await call(
      createApplyPatchTool(),
      custom(patchText('*** Update File: a\n*** Move to: b\n@@\n-x\n+y')),
    );
    expect(args.changes).toMatchObject([{ path: join(dir, 'a'), movePath: join(dir, 'b'), kind: 'update' }]);
    expect(args.targets).toEqual([join(dir, 'a'), join(dir, 'b')]);
  });

  test('the next patch of the same response may build on it', async () => {
    const tool = createApplyPatchTool();
    const first = await call(tool, custom(patchText('*** Add File: a\n+one')));
    const second = await call(tool, custom(patchText('*** Update File: a\n@@\n-one\n+two')));
    expect(second.args.changes).toEqual([{ path: join(dir, 'a'), kind: 'update' }]);
    await first.run();
    expect(await second.run()).toMatchObject({
      kind: 'ok',
      report: { changes: [{ diff: expect.stringContaining('-one\n+two\n') }] },
    });
    expect(read('a')).toBe('two\n');
  });
});

describe('a patch that does not', () => {
  test('is told to the model before anything is shown', async () => {
    put('a.txt', 'alpha\n');
    const tool = createApplyPatchTool();
    expect(await textOfFailure(tool, custom(patchText('*** Update File: a.txt\n@@\n-nope\n+x')))).toMatch(
      `apply_patch verification failed: Failed to find expected lines in ${join(dir, 'a.txt')}:\nnope\n`,
    );
    expect(await textOfFailure(tool, custom(patchText('*** Frob: a')))).toMatch(
      "apply_patch verification failed: invalid hunk at line 2, '*** Frob: a' is not a valid hunk header",
    );
    expect(await textOfFailure(tool, custom('*** Begin Patch\n*** End Patch'))).toBe('patch rejected: empty patch');
    expect(await textOfFailure(tool, { kind: 'function', arguments: '{}' })).toMatch(/missing field `input`/);
    expect(await textOfFailure(tool, { kind: 'function', arguments: '{"input": ' })).toMatch(
      /failed to parse function arguments/,
    );
  });

  test('fails as an outcome when the file changed before it ran, and leaves it alone', async () => {
    put('a', 'x\n');
    const { run } = await call(createApplyPatchTool(), custom(patchText('*** Update File: a\n@@\n-x\n+y')));
    put('a', 'z\n');
    expect(await run()).toMatchObject({
      kind: 'failed',
      text: expect.stringMatching(/^apply_patch failed: Failed to find expected lines[\s\S]*No file was changed\.$/),
    });
    expect(read('a')).toBe('z\n');
  });

  test('the same wrong call again gets more help, another one does not', async () => {
    const tool = createApplyPatchTool();
    const wrong = custom('{"patch_text": "x"}');
    const first = await textOfFailure(tool, wrong);
    expect(first).toMatch(/invalid patch: The first line.*\nThe argument must be the bare patch text, not JSON/);
    const second = await textOfFailure(tool, wrong);
    expect(second).toMatch(/same argument that failed before[\s\S]*\*\*\* Update File: path\/of\/file\.txt/);
    expect(await textOfFailure(tool, custom('hello'))).not.toMatch(/failed before/);
    expect(await textOfFailure(tool, wrong, { ...context(), threadId: 'other' })).toBe(first);
  });
});

describe('what policy says', () => {
  test('a link does not lead out of the workspace', async () => {
    mkdirSync(join(base, 'outside'));
    symlinkSync(join(base, 'outside'), join(dir, 'link'));
    const payload = custom(patchText('*** Add File: link/new/x\n+1'));
    expect((await call(createApplyPatchTool(), payload)).requirement).toEqual({
      kind: 'forbidden',
      reason: 'writing outside of the project; rejected by user approval settings',
    });
    expect((await call(createApplyPatchTool(), payload, context('on-request'))).requirement).toMatchObject({
      kind: 'needsApproval',
      reason: expect.stringContaining(join(base, 'outside/new/x')),
    });
  });

  test('a link into the workspace is judged by where it leads', async () => {
    symlinkSync(dir, join(base, 'shortcut'));
    put('a', 'x\n');
    const { requirement } = await call(
      createApplyPatchTool(),
      custom(patchText(`*** Update File: ${base}/shortcut/a\n@@\n-x\n+y`)),
    );
    expect(requirement).toMatchObject({ kind: 'skip' });
  });

  test('deleting a link only concerns the link', async () => {
    symlinkSync('/etc/passwd', join(dir, 'l'));
    expect((await call(createApplyPatchTool(), custom(patchText('*** Delete File: l')))).requirement).toMatchObject({
      kind: 'skip',
    });
  });

  test('a move out of the workspace concerns both ends', async () => {
    put('a', 'x\n');
    const { requirement } = await call(
      createApplyPatchTool(),
      custom(patchText(`*** Update File: a\n*** Move to: ${base}/b\n@@\n-x\n+y`)),
    );
    expect(requirement).toMatchObject({ kind: 'forbidden' });
  });

  test('a hidden file is not read, so no error can tell what it holds', async () => {
    put('.env', 'TOKEN=1\n');
    const payload = custom(patchText('*** Update File: .env\n@@\n-TOKEN=\n+x'));
    for (const denyRead of [[join(dir, '.env')], [join(dir, '**/.env')], [join(dir, '*')]]) {
      const text = await textOfFailure(createApplyPatchTool(), payload, context('never', { denyRead }));
      expect(text).toBe(`patch rejected: the sandbox policy hides ${join(dir, '.env')}`);
    }
  });

  test('approvals are remembered per file', async () => {
    const { args } = await call(createApplyPatchTool(), custom(patchText('*** Add File: b\n+1\n*** Add File: a\n+1')));
    expect(createApplyPatchTool().cacheKeys?.(args, context())).toEqual([`patch ${dir}/a`, `patch ${dir}/b`]);
  });
});

describe('the net diff of a turn', () => {
  test('is empty when patches cancel out', async () => {
    put('a.txt', 'one\n');
    const tracker = createTurnDiffTracker(dir);
    const tool = createApplyPatchTool({ tracker: () => tracker });
    await (await call(tool, custom(patchText('*** Update File: a.txt\n@@\n-one\n+two')))).run();
    expect(await tracker.diff()).toBe(
      'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
    );
    await (await call(tool, custom(patchText('*** Update File: a.txt\n@@\n-two\n+one')))).run();
    expect(await tracker.diff()).toBe('');
  });

  test('shows new, gone and moved files from the first state to the last', async () => {
    put('gone', 'g\n');
    put('from', 'f\n');
    const tracker = createTurnDiffTracker(dir);
    const tool = createApplyPatchTool({ tracker: () => tracker });
    await (
      await call(
        tool,
        custom(
          patchText('*** Add File: new\n+1\n*** Delete File: gone\n*** Update File: from\n*** Move to: to\n@@\n-f\n+F'),
        ),
      )
    ).run();
    await (await call(tool, custom(patchText('*** Update File: new\n@@\n-1\n+2')))).run();
    const diff = await tracker.diff();
    expect([...diff.matchAll(/^diff --git a\/(\S+)/gm)].map((found) => found[1])).toEqual([
      'from',
      'gone',
      'new',
      'to',
    ]);
    expect(diff).toContain('new file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+2\n');
    expect(diff).toContain('deleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n');
  });

  test('names binary files without showing them', async () => {
    writeFileSync(join(dir, 'b'), Buffer.from([0xff, 0]));
    const tracker = createTurnDiffTracker(dir);
    const tool = createApplyPatchTool({ tracker: () => tracker });
    await (await call(tool, custom(patchText('*** Delete File: b')))).run();
    expect(await tracker.diff()).toBe(
      'diff --git a/b b/b\ndeleted file mode 100644\nBinary files a/b and /dev/null differ\n',
    );
  });
});
