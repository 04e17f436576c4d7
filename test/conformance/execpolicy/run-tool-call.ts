/**
 * One recorded call of the command tool, answered by the pure policy: what the tool checks first, the rules as a session
 * loads them, the requirement, and what a client would be offered. No process is started.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decideRequirement, type Policy, type PolicyAnswer } from '../../../src/policy/index.js';
import { loadPolicy, ruleDirectories } from '../../../src/policy/node.js';
import type { ApprovalPolicy, SandboxMode, SandboxPolicy } from '../../../src/protocol/index.js';

export interface RecordedRule {
  readonly name: string;
  readonly text: string;
}

export interface RecordedExpectation {
  readonly outcome: 'run' | 'ask' | 'refuse';
  readonly reason?: string | null;
  readonly proposed_amendment?: readonly string[] | null;
  readonly available_decisions?: readonly string[];
  readonly file_exists?: boolean;
  readonly command_actions?: readonly unknown[];
  readonly default_rules_after?: string | null;
  readonly ran?: boolean;
}

export interface RecordedCall {
  readonly id: string;
  readonly tags: readonly string[];
  readonly approval_policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  readonly args: Readonly<Record<string, unknown>>;
  readonly rules?: readonly RecordedRule[];
  readonly project_rules?: readonly RecordedRule[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly answers?: readonly string[];
  readonly check_file?: string;
  readonly deviations?: readonly string[];
  readonly expect: RecordedExpectation;
}

export interface Session {
  readonly root: string;
  readonly cwd: string;
  readonly out: string;
  readonly home: string;
  fill(text: string): string;
  bare(text: string): string;
}

export function openSession(): Session {
  const root = mkdtempSync(path.join(tmpdir(), 'tw-policy-'));
  const [cwd, out, home] = ['proj', 'out', 'home'].map((name) => path.join(root, name)) as [string, string, string];
  for (const folder of [cwd, out, home]) mkdirSync(folder, { recursive: true });
  const names = [
    ['{CWD}', cwd],
    ['{OUT}', out],
    ['{HOME}', home],
  ] as const;
  return {
    root,
    cwd,
    out,
    home,
    fill: (text) => names.reduce((all, [name, value]) => all.replaceAll(name, value), text),
    bare: (text) => names.reduce((all, [name, value]) => all.replaceAll(value, name), text),
  };
}

export function closeSession(session: Session): void {
  rmSync(session.root, { recursive: true, force: true });
}

/** Writes the rules of a case and loads them the way a thread does. */
export function layRules(session: Session, call: Pick<RecordedCall, 'rules' | 'project_rules' | 'config' | 'sandbox'>): Policy {
  const places = [
    [path.join(session.home, 'rules'), call.rules],
    [path.join(session.cwd, '.codex/rules'), call.project_rules],
  ] as const;
  for (const [folder, files] of places) {
    rmSync(folder, { recursive: true, force: true });
    if (files === undefined) continue;
    mkdirSync(folder, { recursive: true });
    for (const { name, text } of files) writeFileSync(path.join(folder, name), session.fill(text));
  }
  return reloadRules(session, call);
}

export function reloadRules(session: Session, call: Pick<RecordedCall, 'config' | 'sandbox'>): Policy {
  const projects = (call.config?.['projects'] ?? {}) as Record<string, { trust_level?: 'trusted' | 'untrusted' }>;
  return loadPolicy({
    directories: ruleDirectories({
      home: session.home,
      projects: [session.cwd],
      trust: projects['{CWD}']?.trust_level ?? 'unknown',
      readOnly: call.sandbox === 'read-only',
    }),
  });
}

export interface Seen {
  readonly outcome: 'run' | 'ask' | 'refuse';
  readonly reason: string | null;
  readonly amendment: readonly string[] | null;
  /** It would run outside the sandbox. */
  readonly free: boolean;
  readonly answer: PolicyAnswer | undefined;
}

const REFUSED: Seen = { outcome: 'refuse', reason: null, amendment: null, free: false, answer: undefined };

export function playCall(session: Session, policy: Policy, call: RecordedCall): Seen {
  const argv = argvOf(session, call.args);
  if (!argv || !argumentsFit(call)) return REFUSED;
  const { sandbox_permissions: permissions, prefix_rule: prefix, justification, workdir } = call.args;
  const asks = permissions !== undefined && permissions !== 'use_default';
  const answer = decideRequirement({
    policy,
    argv,
    cwd: path.resolve(session.cwd, typeof workdir === 'string' ? session.fill(workdir) : '.'),
    approvalPolicy: call.approval_policy,
    sandbox: sandboxOf(call.sandbox, session.cwd),
    escalationRequested: asks,
    ...(typeof justification === 'string' ? { justification } : {}),
    ...(prefix === undefined ? {} : { prefixRule: (prefix as string[]).map(session.fill) }),
    knownSafeCommands: false,
  });
  const free = call.sandbox === 'danger-full-access' || (answer.kind === 'skip' && answer.bypassSandbox);
  if (answer.kind === 'forbidden') return { ...REFUSED, answer };
  if (answer.kind === 'skip') return { outcome: 'run', reason: null, amendment: null, free: free || asks, answer };
  const reason = answer.reason === undefined ? null : session.bare(answer.reason);
  return { outcome: 'ask', reason, amendment: answer.proposed?.prefix.map(session.bare) ?? null, free, answer };
}

/** The tool takes a shell's kind from its name; a kind it does not know becomes sh. */
function argvOf(session: Session, args: RecordedCall['args']): readonly string[] | undefined {
  if (typeof args['cmd'] !== 'string') return undefined;
  const kind = typeof args['shell'] === 'string' ? path.basename(args['shell']) : 'bash';
  const shell = kind === 'bash' ? '/bin/bash' : '/bin/sh';
  return [shell, args['login'] === false ? '-c' : '-lc', session.fill(args['cmd'])];
}

/** What the tool refuses before it asks policy. */
function argumentsFit({ args, config, approval_policy: approval }: RecordedCall): boolean {
  const { sandbox_permissions: permissions, prefix_rule: prefix, justification, additional_permissions: more } = args;
  if (permissions !== undefined && !['use_default', 'require_escalated', 'with_additional_permissions'].includes(String(permissions))) return false;
  if (prefix !== undefined && !(Array.isArray(prefix) && prefix.every((word) => typeof word === 'string'))) return false;
  if (justification !== undefined && permissions === undefined) return false;
  if (permissions !== 'with_additional_permissions') return true;
  const features = config?.['features'] as Record<string, unknown> | undefined;
  return features?.['exec_permission_approvals'] === true && more !== undefined && approval !== 'never';
}

export function sandboxOf(mode: SandboxMode, cwd: string): SandboxPolicy {
  return {
    mode,
    writableRoots: mode === 'workspace-write' ? [cwd] : [],
    // The scratch folder of the test stands in a temporary directory; the recording's did not.
    excludeSlashTmp: true,
    excludeTmpdirEnvVar: true,
    readOnly: [],
    denyRead: [],
    git: 'read-only',
    network: { kind: 'off' },
    unixSockets: 'deny',
    landlockFallback: false,
  };
}
