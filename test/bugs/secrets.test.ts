/** Secrets of the host reach neither commands nor what is stored and sent. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  answer,
  command,
  createPlace,
  execArgs,
  outputs,
  type Place,
  requireBuild,
  runProgram,
  serve,
  step,
  threadFile,
} from './support.js';

beforeAll(requireBuild);
let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

const env = {
  MOCK_KEY: 'provider-key-0123456789',
  MY_SECRET_TOKEN: 'token-value-0123456789',
  DEPLOY_KEY: 'deploy-value-0123456789',
  db_password: 'password-value-0123456789',
  HARMLESS: 'stays',
};
const secrets = [env.MOCK_KEY, env.MY_SECRET_TOKEN, env.DEPLOY_KEY, env.db_password];

test('a command sees neither the provider key nor variables named like secrets', async () => {
  await using server = await serve(step(command('env')), answer('ok'));
  const run = await runProgram(execArgs(server, '--json', '-s', 'danger-full-access', 'go'), { place, env });
  expect(run.status).toBe(0);
  const [output] = outputs(server, 1);
  expect(output).toContain('HARMLESS=stays');
  for (const name of ['MOCK_KEY', 'MY_SECRET_TOKEN', 'DEPLOY_KEY', 'db_password']) expect(output).not.toContain(name);
});

test('the provider key stays out even where the others are kept on purpose', async () => {
  await using server = await serve(step(command('env')), answer('ok'));
  const keep = ['-c', 'shell_environment_policy.ignore_default_excludes=true'];
  await runProgram(execArgs(server, ...keep, '-s', 'danger-full-access', 'go'), { place, env });
  const [output] = outputs(server, 1);
  expect(output).toContain('DEPLOY_KEY=deploy-value-0123456789');
  expect(output).not.toMatch(/MOCK_KEY|provider-key/);
});

test('a secret that a command finds elsewhere is masked in the request, in the events and in the thread file', async () => {
  const print = secrets.map((value) => `printf '%s\\n' '${value.slice(0, 9)}''${value.slice(9)}'`).join('; ');
  await using server = await serve(step(command(print)), answer('ok'));
  const run = await runProgram(execArgs(server, '--json', '-s', 'danger-full-access', 'go'), { place, env });
  const stored = readFileSync(threadFile(place), 'utf8');
  expect(outputs(server, 1)[0]).toContain('[secret]\n[secret]\n[secret]\n[secret]');
  for (const value of secrets) {
    expect(run.stdout).not.toContain(value);
    expect(stored).not.toContain(value);
    expect(server.requests[1]?.text).not.toContain(value);
  }
});
