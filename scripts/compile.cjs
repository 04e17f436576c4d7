// `compile.cjs DIST/cli.cjs OUT`: runs one small turn of the bundle, and keeps the code that V8 made for it. Only this
// version of Node can use it; others compile as they go. See bin/turnwright.js.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { openScript, runScript } = require('../bin/run-compiled.js');

const [file, out] = process.argv.slice(2).map((name) => path.resolve(name));
const script = openScript(file);
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tw-compile-'));
process.on('exit', () => {
  fs.rmSync(home, { recursive: true, force: true });
  fs.writeFileSync(out, script.createCachedData());
});
Object.assign(process.env, { HOME: home, TURNWRIGHT_HOME: path.join(home, 'own'), TURNWRIGHT_COMPILE_KEY: 'none' });
process.chdir(home);

const command = { cmd: 'echo "$HOME"' };
const call = { type: 'function_call', id: 'f', call_id: 'c', name: 'exec_command', arguments: JSON.stringify(command) };
const message = { type: 'message', role: 'assistant', id: 'm', content: [{ type: 'output_text', text: 'done' }] };
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const answers = [call, message].map((item, n) => [
  { type: 'response.created', response: { id: `r${n}` } },
  { type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: 'done' },
  { type: 'response.output_item.done', item },
  { type: 'response.completed', response: { id: `r${n}`, usage } },
]);

const server = http.createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end((answers.shift() ?? []).map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
});
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  const provider = `{name="local",base_url="${url}",wire_api="responses",env_key="TURNWRIGHT_COMPILE_KEY"}`;
  const settings = ['model_provider="local"', `model_providers.local=${provider}`].flatMap((text) => ['-c', text]);
  const flags = ['--json', '--skip-git-repo-check', '-s', 'danger-full-access', '-m', 'gpt-5.5'];
  void runScript(script, file).main(['exec', ...flags, ...settings, 'go']);
});
