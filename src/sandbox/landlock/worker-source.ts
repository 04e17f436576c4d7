/**
 * The program of the restricting worker, as text, so that it needs no file of its own in a bundle. Landlock, seccomp
 * and capabilities are per thread, and a child forked by this thread inherits them; the rest of the process stays free.
 *
 * It takes `{ id, argv, cwd, env, stdio }` and answers `{ id, pid }`, `{ id, error }`, later `{ id, code, signal }`.
 */
export const WORKER_SOURCE = `
'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const { createRequire } = require('node:module');
const { spawn } = require('node:child_process');
const fs = require('node:fs');

const koffi = createRequire(workerData.from)('koffi');
const libc = koffi.load(null);
const syscall = libc.func('long syscall(long number, ...)');
const must = (what, value) => {
  if (value < 0) throw new Error(what + ' failed with errno ' + koffi.errno());
  return Number(value);
};

const { rules, uid, filter, probe } = workerData;
const NR = process.arch === 'x64' ? { capset: 126, prctl: 157 } : { capset: 91, prctl: 167 };

function dropCapabilities() {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(0x20080522, 0);
  must('capset', syscall(NR.capset, 'void *', header, 'void *', Buffer.alloc(24)));
}

function restrictFiles() {
  const attributes = Buffer.alloc(24);
  attributes.writeBigUInt64LE(BigInt(rules.handled), 0);
  attributes.writeBigUInt64LE(BigInt(rules.scoped), 16);
  const size = rules.scoped === 0 ? 8 : 24;
  const ruleset = must('landlock_create_ruleset', syscall(444, 'void *', attributes, 'size_t', size, 'uint32_t', 0));
  for (const grant of rules.grants) allow(ruleset, grant);
  must('landlock_restrict_self', syscall(446, 'int', ruleset, 'uint32_t', 0));
  fs.closeSync(ruleset);
}

function allow(ruleset, grant) {
  let place;
  try {
    place = fs.openSync(grant.path, 0x200000);
  } catch {
    return;
  }
  const fileOnly = (1 << 1) | (1 << 14) | (1 << 15);
  const rights = fs.fstatSync(place).isDirectory() ? grant.rights : grant.rights & fileOnly;
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(BigInt(rights), 0);
  rule.writeInt32LE(place, 8);
  must('landlock_add_rule', syscall(445, 'int', ruleset, 'int', 1, 'void *', rule, 'uint32_t', 0));
  fs.closeSync(place);
}

function restrictCalls() {
  const program = Buffer.from(filter);
  const code = koffi.alloc('uint8_t', program.length);
  koffi.encode(code, koffi.array('uint8_t', program.length), Array.from(program));
  const header = Buffer.alloc(16);
  header.writeUInt16LE(program.length / 8, 0);
  header.writeBigUInt64LE(koffi.address(code), 8);
  must('prctl(PR_SET_SECCOMP)', syscall(NR.prctl, 'long', 22, 'long', 2, 'void *', header, 'long', 0, 'long', 0));
}

try {
  must('prctl(PR_SET_NO_NEW_PRIVS)', syscall(NR.prctl, 'long', 38, 'long', 1, 'long', 0, 'long', 0, 'long', 0));
  if (uid === 0) dropCapabilities();
  restrictFiles();
  restrictCalls();
  let escaped = true;
  try {
    fs.writeFileSync(probe, '');
  } catch {
    escaped = false;
  }
  if (escaped) throw new Error('a write that must fail went through');
  parentPort.postMessage({ ready: true });
} catch (error) {
  parentPort.postMessage({ ready: false, error: String(error && error.message) });
}

parentPort.on('message', ({ id, argv, cwd, env, stdio }) => {
  const child = spawn(argv[0], argv.slice(1), { cwd, env, stdio, detached: true });
  child.on('error', (error) => parentPort.postMessage({ id, error: error.message, code: error.code }));
  if (child.pid !== undefined) parentPort.postMessage({ id, pid: child.pid });
  child.on('exit', (code, signal) => parentPort.postMessage({ id, exit: { code, signal } }));
});
`;
