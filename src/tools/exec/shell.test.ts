import { expect, test } from 'vitest';
import { chooseShell } from './shell.js';

const own = { path: '/opt/shells/bash', name: 'bash' };

test.each([
  [undefined, '/opt/shells/bash'],
  ['bash', '/opt/shells/bash'],
  ['sh', '/usr/bin/sh'],
  ['./bash', '/bin/bash'],
  ['/workspace/planted/bash', '/bin/bash'],
  ['/workspace/planted/sh', '/usr/bin/sh'],
  ['python3', '/bin/sh'],
  ['fish', '/bin/sh'],
  ['BASH', '/bin/sh'],
  ['constructor', '/bin/sh'],
])('shell %j runs %s: a kind is asked for, never a program', (wanted, path) => {
  expect(chooseShell(wanted, own).path).toBe(path);
});
