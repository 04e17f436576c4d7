/** The circumstances under which the commands judge: rules, approval policy, sandbox, folder. */
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createPolicy,
  type HostExecutable,
  type Policy,
  type PolicyInput,
  parseRules,
  type RuleFile,
} from '../../policy/index.js';
import { confirmationsFile, gitIsPlain, loadPolicy, readRulesText, ruleDirectories } from '../../policy/node.js';
import type { ApprovalPolicy, SandboxMode } from '../../protocol/index.js';
import { ArgumentReader, type ExecpolicyIo, usage } from './io.js';

export const SESSION_HELP = `  -r, --rules PATH               judge by these files instead of the rules in force; may be repeated
  -a, --approval-policy POLICY   untrusted, on-request (default), never
  -s, --sandbox MODE             read-only, workspace-write (default), danger-full-access
  -C, --cd DIR                   folder the command runs in
      --escalated                the call asks to leave the sandbox
      --no-known-safe-commands   no list of safe commands under untrusted
`;

const POLICIES = ['untrusted', 'on-request', 'on-failure', 'never'];
const MODES = ['read-only', 'workspace-write', 'danger-full-access'];

export interface SessionOptions {
  readonly rules: readonly string[];
  readonly approvalPolicy: ApprovalPolicy;
  readonly mode: SandboxMode;
  readonly cwd: string;
  readonly escalated: boolean;
  readonly knownSafeCommands: boolean;
}

export class SessionReader {
  readonly reader: ArgumentReader;
  readonly #io: ExecpolicyIo;
  #rules: string[] = [];
  #approval = 'on-request';
  #mode = 'workspace-write';
  #cwd: string;
  #escalated = false;
  #safe = true;

  constructor(args: readonly string[], io: ExecpolicyIo) {
    this.reader = new ArgumentReader(args);
    this.#io = io;
    this.#cwd = io.cwd;
  }

  /** Takes one of the shared options; false when the next word is none. */
  takeShared(): boolean {
    const { reader } = this;
    const rules = reader.option('-r', '--rules');
    if (rules !== undefined) return this.#rules.push(path.resolve(this.#io.cwd, rules)) > 0;
    const approval = reader.option('-a', '--approval-policy', '--ask-for-approval');
    if (approval !== undefined) return this.#set('approval', approval, POLICIES);
    const mode = reader.option('-s', '--sandbox');
    if (mode !== undefined) return this.#set('mode', mode, MODES);
    const cwd = reader.option('-C', '--cd');
    if (cwd !== undefined) {
      this.#cwd = path.resolve(this.#io.cwd, cwd);
      return true;
    }
    if (reader.flag('--escalated')) {
      this.#escalated = true;
      return true;
    }
    if (!reader.flag('--no-known-safe-commands')) return false;
    this.#safe = false;
    return true;
  }

  #set(what: 'approval' | 'mode', value: string, words: readonly string[]): true {
    if (!words.includes(value)) throw usage(`\`${value}\` is not one of ${words.join(', ')}`);
    if (what === 'approval') this.#approval = value;
    else this.#mode = value;
    return true;
  }

  options(): SessionOptions {
    return {
      rules: this.#rules,
      approvalPolicy: this.#approval as ApprovalPolicy,
      mode: this.#mode as SandboxMode,
      cwd: this.#cwd,
      escalated: this.#escalated,
      knownSafeCommands: this.#safe,
    };
  }
}

/** The named files, or the rules a session in this folder would have. */
export function policyFor(options: Pick<SessionOptions, 'rules' | 'cwd'>, io: ExecpolicyIo): Policy {
  if (options.rules.length === 0) {
    return loadPolicy({
      directories: ruleDirectories({ home: io.home, projects: [options.cwd] }),
      confirmations: confirmationsFile(io.home),
    });
  }
  const hosts: HostExecutable[] = [];
  const files: RuleFile[] = [];
  for (const file of options.rules) {
    const parsed = parseRules(readRulesText(file), { file, hosts });
    hosts.push(...parsed.hosts);
    files.push(parsed);
  }
  return createPolicy(files);
}

/** Everything `decideRequirement` needs besides the command. */
export function settingsFor(options: SessionOptions, policy: Policy): Omit<PolicyInput, 'argv' | 'cwd'> {
  const { approvalPolicy, mode, cwd, escalated, knownSafeCommands } = options;
  return {
    policy,
    approvalPolicy,
    sandbox: {
      mode,
      writableRoots: mode === 'workspace-write' ? [cwd] : [],
      excludeSlashTmp: false,
      excludeTmpdirEnvVar: false,
      readOnly: [],
      denyRead: [],
      git: 'read-only',
      network: { kind: 'off' },
      unixSockets: 'deny',
      landlockFallback: false,
    },
    escalationRequested: escalated,
    knownSafeCommands,
    facts: { gitIsPlain: gitIsPlain(cwd), tmpdir: tmpdir() },
  };
}

/** One word is a script for the shell; several are an argv. */
export function commandArgv(words: readonly string[]): readonly string[] {
  return words.length === 1 ? ['/bin/bash', '-lc', words[0]!] : words;
}
