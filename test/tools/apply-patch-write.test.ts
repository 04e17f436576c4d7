/** What a patch leaves on the disk: everything or nothing, the right files, in any company. */
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { applyPatch, applyPlan, parsePatch, planPatch } from '../../src/tools/apply-patch/index.js';
import { type StageStep, stageStep } from '../../src/tools/apply-patch/stage-step.js';

const signal = new AbortController().signal;
let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'patch-write-')));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const plan = (body: string) => planPatch(parsePatch(`*** Begin Patch\n${body}\n*** End Patch`), dir);
const apply = async (body: string, stage?: StageStep) =>
  applyPlan(await plan(body), new AbortController().signal, stage);
const read = (name: string) => readFileSync(join(dir, name), 'utf8');
const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
const replace = (name: string, from: string, to: string) => `*** Update File: ${name}\n@@\n-${from}\n+${to}`;

/** Names, kinds, modes and content of everything in the directory. */
function picture(): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(dir, name);
      const entry = lstatSync(path);
      const content = entry.isSymbolicLink() ? readlinkSync(path) : entry.isFile() ? readFileSync(path, 'base64') : '';
      return [name, `${entry.mode.toString(8)} ${content}`];
    }),
  );
}

/** The real thing, but the step with this number fails when it is carried out. */
function failingAt(number: number): StageStep {
  let count = 0;
  return async (step) => {
    const staged = await stageStep(step);
    const mine = count++;
    return { ...staged, commit: () => (mine === number ? Promise.reject(new Error('disk on fire')) : staged.commit()) };
  };
}

describe('all or nothing', () => {
  const everything = [
    '*** Add File: new/deep/file.txt\n+new',
    replace('a.sh', 'alpha', 'ALPHA'),
    '*** Delete File: gone.bin',
    '*** Delete File: link',
    replace('twin', 'same', 'other'),
    '*** Update File: old.txt\n*** Move to: moved/new.txt\n@@\n-old\n+new',
    '*** Add File: over.txt\n+over',
  ];

  function prepare(): void {
    put('a.sh', 'alpha\n');
    chmodSync(join(dir, 'a.sh'), 0o750);
    writeFileSync(join(dir, 'gone.bin'), Buffer.from([0, 255, 1]));
    symlinkSync('twin', join(dir, 'link'));
    put('twin', 'same\n');
    linkSync(join(dir, 'twin'), join(dir, 'other-name'));
    put('old.txt', 'old\n');
    put('over.txt', 'before\n');
  }

  test('the whole patch arrives when nothing fails', async () => {
    prepare();
    await apply(everything.join('\n'));
    expect(Object.keys(picture())).toEqual([
      'a.sh',
      'moved',
      'moved/new.txt',
      'new',
      'new/deep',
      'new/deep/file.txt',
      'other-name',
      'over.txt',
      'twin',
    ]);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7])('nothing is left when write %i fails', async (number) => {
    prepare();
    const before = picture();
    await expect(apply(everything.join('\n'), failingAt(number))).rejects.toThrow('disk on fire');
    expect(picture()).toEqual(before);
  });

  test('nothing is left for any selection and order of changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(everything, { minLength: 1 }), fc.nat(8), async (parts, number) => {
        rmSync(dir, { recursive: true });
        mkdirSync(dir);
        prepare();
        const before = picture();
        const steps = (await plan(parts.join('\n'))).steps.length;
        fc.pre(number < steps);
        await expect(apply(parts.join('\n'), failingAt(number))).rejects.toThrow('disk on fire');
        expect(picture()).toEqual(before);
      }),
      { numRuns: 40 },
    );
  });

  test('a hunk that does not fit leaves the ones before it undone, and says what is near', async () => {
    put('b.txt', 'beta one\n');
    const before = picture();
    await expect(apply(`*** Add File: n.txt\n+n\n${replace('b.txt', 'beta two', 'x')}`)).rejects.toThrow(
      /expected lines in .*b\.txt:\nbeta two\n\(chunk 1 of this file, line 5 of the patch; nearest text is line 1: beta one\)/,
    );
    expect(picture()).toEqual(before);
  });

  test.skipIf(process.getuid?.() === 0)(
    'a write-protected file is refused and the others stay as they were',
    async () => {
      put('a', 'x\n');
      put('b', 'x\n');
      chmodSync(join(dir, 'b'), 0o444);
      const before = picture();
      await expect(apply(`${replace('a', 'x', 'y')}\n${replace('b', 'x', 'y')}`)).rejects.toThrow(
        /Failed to write file .*b: Permission denied/,
      );
      expect(picture()).toEqual(before);
    },
  );

  test('no temporary files stay', async () => {
    put('a', 'x\n');
    await apply(replace('a', 'x', 'y'));
    expect(readdirSync(dir)).toEqual(['a']);
  });
});

describe('what a file keeps', () => {
  test('its mode, also the unusual bits', async () => {
    put('a', 'x\n');
    chmodSync(join(dir, 'a'), 0o6741);
    await apply(replace('a', 'x', 'y'));
    expect(statSync(join(dir, 'a')).mode & 0o7777).toBe(0o6741);
  });

  test('its other names', async () => {
    put('a', 'x\n');
    linkSync(join(dir, 'a'), join(dir, 'b'));
    await apply(replace('a', 'x', 'a much longer line'));
    expect(read('b')).toBe('a much longer line\n');
    await apply(replace('b', 'a much longer line', 'z'));
    expect(read('a')).toBe('z\n');
  });

  test('the links that lead to it, through links in directories as well', async () => {
    mkdirSync(join(dir, 'real'));
    put('real/t', 'x\n');
    symlinkSync('real', join(dir, 'dir'));
    symlinkSync('t', join(dir, 'real/l'));
    await apply(replace('dir/l', 'x', 'y'));
    expect(read('real/t')).toBe('y\n');
    expect(readlinkSync(join(dir, 'real/l'))).toBe('t');
    expect(readlinkSync(join(dir, 'dir'))).toBe('real');
  });

  test('its bytes, when the patch changes nothing', async () => {
    put('a', 'x\n');
    const before = statSync(join(dir, 'a'), { bigint: true });
    await apply('*** Update File: a\n@@\n x');
    expect(statSync(join(dir, 'a'), { bigint: true }).ino).toBe(before.ino);
  });

  test.skipIf(process.getuid?.() !== 0)('its owner', async () => {
    put('a', 'x\n');
    const { chownSync } = await import('node:fs');
    chownSync(join(dir, 'a'), 12345, 23456);
    await apply(replace('a', 'x', 'y'));
    expect(statSync(join(dir, 'a'))).toMatchObject({ uid: 12345, gid: 23456 });
  });

  test('everything, when it is moved onto another name of itself', async () => {
    put('t', 'x\n');
    symlinkSync('t', join(dir, 'l'));
    await apply('*** Update File: t\n*** Move to: ./sub/../l\n@@\n-x\n+y');
    expect(read('t')).toBe('y\n');
    expect(readlinkSync(join(dir, 'l'))).toBe('t');
  });
});

describe('hunks that meet', () => {
  test('a file that is added through a link and updated by its own name', async () => {
    mkdirSync(join(dir, 'real'));
    symlinkSync('real', join(dir, 'dir'));
    await apply(`*** Add File: dir/a\n+x\n${replace('real/a', 'x', 'y')}`);
    expect(read('real/a')).toBe('y\n');
  });

  test('a link that is deleted and a file that takes its place', async () => {
    put('t', 't\n');
    symlinkSync('t', join(dir, 'l'));
    await apply('*** Delete File: l\n*** Add File: l\n+own');
    expect(lstatSync(join(dir, 'l')).isFile()).toBe(true);
    expect(read('t')).toBe('t\n');
  });

  test('a file and a directory of the same name are refused before anything is written', async () => {
    await expect(apply('*** Add File: a\n+x\n*** Add File: a/b\n+y')).rejects.toThrow(/Failed to write file .*a\/b/);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('a move onto a file that is there replaces it', async () => {
    put('a', 'x\n');
    put('b', 'old\n');
    await apply('*** Update File: a\n*** Move to: b\n@@\n-x\n+y');
    expect(picture()).toEqual({ b: expect.any(String) });
    expect(read('b')).toBe('y\n');
  });
});

describe('what changes while a patch is on its way', () => {
  test('an edit elsewhere in the file is kept', async () => {
    put('a', 'one\ntwo\nthree\n');
    const checked = await plan(replace('a', 'three', '3'));
    put('a', 'zero\none\ntwo\nthree\n');
    await applyPlan(checked, signal);
    expect(read('a')).toBe('zero\none\ntwo\n3\n');
  });

  test('an edit of the same lines makes the patch fail', async () => {
    put('a', 'one\n');
    const checked = await plan(replace('a', 'one', '1'));
    put('a', 'uno\n');
    await expect(applyPlan(checked, signal)).rejects.toThrow(/Failed to find expected lines/);
    expect(read('a')).toBe('uno\n');
  });

  test('an edit between the last look and the rename is seen', async () => {
    put('a', 'one\ntwo\n');
    let edited = false;
    const meddling: StageStep = async (step) => {
      const staged = await stageStep(step);
      return {
        ...staged,
        commit() {
          if (!edited) put('a', 'one\ntwo\nthree\n');
          edited = true;
          return staged.commit();
        },
      };
    };
    await applyPlan(await plan(replace('a', 'one', '1')), signal, meddling);
    expect(read('a')).toBe('1\ntwo\nthree\n');
  });

  test('a file that appears is not overwritten unseen', async () => {
    const checked = await plan('*** Add File: a\n+mine');
    put('a', 'theirs\n');
    await applyPlan(checked, signal);
    expect(read('a')).toBe('mine\n'); // planned again with what is there: an added file replaces one, as Codex 0.171 does
  });

  test('a directory replaced by a link does not divert the write', async () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'patch-outside-')));
    try {
      mkdirSync(join(dir, 'sub'));
      put('sub/a', 'x\n');
      writeFileSync(join(outside, 'a'), 'x\n');
      const checked = await plan(replace('sub/a', 'x', 'y'));
      renameSync(join(dir, 'sub'), join(dir, 'away'));
      symlinkSync(outside, join(dir, 'sub'));
      await expect(applyPlan(checked, signal)).rejects.toThrow(/leads to .*, which is not what was checked/);
      expect(readFileSync(join(outside, 'a'), 'utf8')).toBe('x\n');
      expect(read('away/a')).toBe('x\n');
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  test('a directory replaced after the file was made ready does not divert the write either', async () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'patch-outside-')));
    try {
      mkdirSync(join(dir, 'sub'));
      const swapping: StageStep = async (step) => {
        const staged = await stageStep(step);
        return {
          ...staged,
          commit() {
            renameSync(join(dir, 'sub'), join(dir, 'away'));
            symlinkSync(outside, join(dir, 'sub'));
            return staged.commit();
          },
        };
      };
      await applyPlan(await plan('*** Add File: sub/a\n+x'), signal, swapping);
      expect(readdirSync(outside)).toEqual([]);
      expect(read('away/a')).toBe('x\n');
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  test('a file replaced by a link is not followed', async () => {
    put('a', 'x\n');
    put('secret', 'x\n');
    const checked = await plan(replace('a', 'x', 'y'));
    rmSync(join(dir, 'a'));
    symlinkSync('secret', join(dir, 'a'));
    await expect(applyPlan(checked, signal)).rejects.toThrow(/leads to .*secret now/);
    expect(read('secret')).toBe('x\n');
  });
});

describe('many patches at once', () => {
  test('50 patches of one file lose no edit', async () => {
    put('a', Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join(''));
    const plans = await Promise.all(Array.from({ length: 50 }, (_, i) => plan(replace('a', `line ${i}`, `done ${i}`))));
    await Promise.all(plans.map((one) => applyPlan(one, new AbortController().signal)));
    expect(read('a')).toBe(Array.from({ length: 50 }, (_, i) => `done ${i}\n`).join(''));
  });

  test('50 patches of different files', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, i) => apply(`*** Add File: d/${i}\n+${i}`)));
    expect(readdirSync(join(dir, 'd'))).toHaveLength(50);
  });

  test('patches of different files run side by side', async () => {
    put('a', 'x\n');
    put('b', 'x\n');
    let openA!: () => void;
    const aMayGo = new Promise<void>((resolve) => {
      openA = resolve;
    });
    const waiting: StageStep = async (step) => {
      await aMayGo;
      return stageStep(step);
    };
    const first = apply(replace('a', 'x', 'y'), waiting);
    await apply(replace('b', 'x', 'y')); // would wait for ever behind the first
    openA();
    await first;
    expect([read('a'), read('b')]).toEqual(['y\n', 'y\n']);
  });

  test('patches that name the same files in opposite order do not block each other', async () => {
    put('a', '0\n');
    put('b', '0\n');
    const both = (names: readonly string[], line: number) =>
      names.map((name) => `*** Update File: ${name}\n@@\n+${line}`).join('\n');
    await Promise.all(Array.from({ length: 20 }, (_, i) => apply(both(i % 2 ? ['a', 'b'] : ['b', 'a'], i))));
    expect(read('a').split('\n')).toHaveLength(22);
    expect(read('b')).toBe(read('a'));
  });

  test('a waiting patch can be called off', async () => {
    put('a', 'x\n');
    const checked = await plan(replace('a', 'x', 'y'));
    const controller = new AbortController();
    const late: { refused?: Promise<void> } = {};
    const holding: StageStep = (step) => {
      late.refused = expect(applyPatch(checked, controller.signal)).rejects.toThrow('called off');
      controller.abort(new Error('called off'));
      return stageStep(step);
    };
    await applyPlan(checked, signal, holding);
    await late.refused;
    expect(existsSync(join(dir, 'a'))).toBe(true);
    await apply(replace('a', 'y', 'z')); // the lock is free
  });
});
