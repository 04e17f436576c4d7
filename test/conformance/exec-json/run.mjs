#!/usr/bin/env node
// Judges an `exec --json` command line against the recorded runs, with a scripted Responses endpoint inside.
//
//   node run.mjs --cmd "COMMAND" [options] [DIR|FILE.json ...]
//
// COMMAND is the program without its subcommand, e.g. "node dist/turnwright.js"; `exec --json …` is appended.
// DIR defaults to the folder of this script; any folder of the same case format works (the MCP server of `aux/`
// beside this script serves them all).
//
//     --only TEXT       only cases whose name contains TEXT
//     --home-var NAME   variable that names the program's home directory (default TURNWRIGHT_HOME)
//     --work DIR        scratch directory; not inside a git work tree, not under a temporary directory
//                       (default: turnwright-conformance in the user's cache directory)
//     --jobs N          cases at once (default 2)
//     --slow F          multiplies the time allowed per run (60 s)
//     --retries N       runs a failing case up to N more times; passes on any success (default 0)
//     --reference       judge by what was recorded: ignore `deviation`
//     --verbose         print passing cases too, and whole texts in differences
//     --keep            keep the scratch directories
//
// What is equal, and what is let through, is written in README.md ("How to judge"). In short: events are compared as a
// list after normalisation; error and warning texts only by their cause; refused calls may show as declined items; a tool
// output that reports that nothing ran must hold the recorded reason. `deviation.expect` replaces fields of `expect`.
// Prints one line per failure and ends with "N passed, N failed"; exit status 1 if anything failed.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

// ---------------------------------------------------------------- command line
const here = path.dirname(fileURLToPath(import.meta.url)), AUX = path.join(here, 'aux');
const o = { jobs: 2, slow: 1, retries: 0, 'home-var': 'TURNWRIGHT_HOME', work: path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'turnwright-conformance') };
const inputs = [];
for (let i = 2, a; (a = process.argv[i]) !== undefined; i++) {
  if (/^--(reference|verbose|keep)$/.test(a)) o[a.slice(2)] = true;
  else if (/^--(cmd|only|home-var|work|jobs|slow|retries)$/.test(a)) o[a.slice(2)] = process.argv[++i];
  else if (a.startsWith('--')) usage(`unknown option ${a}`);
  else inputs.push(a);
}
if (!o.cmd) usage('--cmd is missing');
function usage(why) { console.error(`${why}\nusage: node run.mjs --cmd "COMMAND" [--only TEXT] [--home-var NAME] [--work DIR] [--jobs N] [--slow F] [--retries N] [--reference] [--verbose] [DIR|FILE ...]`); process.exit(2); }
const words = s => [...s.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|(\S+)/g)].map(m => m[1]?.replace(/\\(.)/g, '$1') ?? m[2] ?? m[3]);
const command = words(o.cmd);
const load = f => fs.statSync(f).isDirectory() ? fs.readdirSync(f).filter(n => n.endsWith('.json')).sort().flatMap(n => load(path.join(f, n))) : [JSON.parse(fs.readFileSync(f, 'utf8'))];
const cases = (inputs.length ? inputs : [here]).flatMap(load).filter(c => c.input?.model_script && (!o.only || c.name.includes(o.only)));
fs.mkdirSync(o.work, { recursive: true });
const scratch = fs.mkdtempSync(path.join(fs.realpathSync(o.work), 'exec-'));

// ---------------------------------------------------------------- scripted endpoint
const USAGE = { input_tokens: 100, input_tokens_details: { cached_tokens: 0 }, output_tokens: 10, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 110 };
function* stream(ev, n, index) {          // the SSE events of one script entry
  const added = item => ({ type: 'response.output_item.added', output_index: index, item });
  const done = item => ({ type: 'response.output_item.done', output_index: index, item });
  if (ev.text !== undefined) {
    const item = { type: 'message', role: 'assistant', id: `msg_${n}_${index}`, content: [] };
    yield added(item);
    yield { type: 'response.content_part.added', item_id: item.id, output_index: index, content_index: 0, part: { type: 'output_text', text: '' } };
    const size = Math.ceil(ev.text.length / Math.max(1, ev.chunks ?? 1)) || 1;
    for (let i = 0; i < ev.text.length; i += size) yield { type: 'response.output_text.delta', item_id: item.id, output_index: index, content_index: 0, delta: ev.text.slice(i, i + size) };
    yield done({ ...item, ...(ev.phase ? { phase: ev.phase } : {}), content: [{ type: 'output_text', text: ev.text, annotations: [] }] });
  } else if (ev.reasoning !== undefined) {
    const item = { type: 'reasoning', id: `rs_${n}_${index}`, summary: [{ type: 'summary_text', text: ev.reasoning }], encrypted_content: 'ENC' };
    yield added({ ...item, summary: [] });
    yield { type: 'response.reasoning_summary_part.added', item_id: item.id, output_index: index, summary_index: 0 };
    yield { type: 'response.reasoning_summary_text.delta', item_id: item.id, output_index: index, summary_index: 0, delta: ev.reasoning };
    yield done(item);
  } else if (ev.call) {
    const item = { type: 'function_call', id: `fc_${n}_${index}`, name: ev.call, arguments: typeof ev.args === 'string' ? ev.args : JSON.stringify(ev.args ?? {}), call_id: ev.id ?? `call_${n}_${index}`, ...(ev.namespace ? { namespace: ev.namespace } : {}) };
    yield added({ ...item, arguments: '' });
    yield done(item);
  } else if (ev.custom) {
    const item = { type: 'custom_tool_call', id: `ctc_${n}_${index}`, name: ev.custom, input: ev.input, call_id: ev.id ?? `call_${n}_${index}` };
    yield added({ ...item, input: '' });
    yield done(item);
  } else if (ev.done) {
    yield { type: 'response.completed', response: { id: `resp_${n}`, usage: ev.usage ?? USAGE, ...(ev.end_turn === undefined ? {} : { end_turn: ev.end_turn }) } };
  } else if (ev.raw) yield ev.raw;
}
async function endpoint(script) {
  const requests = [];
  const server = http.createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    if (req.method === 'GET') { res.writeHead(200, { 'content-type': 'application/json' }); return res.end('{"object":"list","data":[],"models":[]}'); }
    const n = requests.length;
    try { requests.push(JSON.parse(body)); } catch { requests.push({ unparsed: body }); }
    const session = /session ID (\d+)/.exec(JSON.stringify(requests[n].input ?? ''))?.[1] ?? '0';
    const r = JSON.parse(JSON.stringify(script[Math.min(n, script.length - 1)]).replaceAll('"<SESSION_ID>"', session));
    if (r.status && r.status !== 200) { res.writeHead(r.status, { 'content-type': 'application/json', ...(r.headers ?? {}) }); return res.end(typeof r.body === 'string' ? r.body : JSON.stringify(r.body ?? {})); }
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    const send = e => res.write(`event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`);
    send({ type: 'response.created', response: { id: `resp_${n}` } });
    (r.events ?? []).forEach((ev, index) => { for (const e of stream(ev, n, index)) send(e); });
    res.end();
  });
  await new Promise(ok => server.listen(0, '127.0.0.1', ok));
  return { port: server.address().port, requests, close: () => { server.closeAllConnections(); server.close(); } };
}

// ---------------------------------------------------------------- one run of the program
function start(args, { cwd, env, stdin }) {
  return new Promise(resolve => {
    const p = spawn(command[0], [...command.slice(1), ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '', stderr = '', late = false;
    const timer = setTimeout(() => { late = true; p.kill('SIGKILL'); }, 60000 * o.slow);
    p.stdout.on('data', d => { stdout += d; }); p.stderr.on('data', d => { stderr += d; });
    p.on('error', e => { clearTimeout(timer); resolve({ code: String(e), stdout, stderr }); });
    p.on('close', (code, signal) => { clearTimeout(timer); resolve({ code: late ? 'timeout' : code ?? signal, stdout, stderr }); });
    p.stdin.on('error', () => { }); p.stdin.end(stdin);
  });
}
const PATH = [...new Set([...(process.env.PATH ?? '').split(path.delimiter), path.dirname(process.execPath)])].join(path.delimiter);
async function attempt(c, tag) {
  const base = path.join(scratch, tag), cwd = path.join(base, 'work'), home = path.join(base, 'home'), user = path.join(base, 'user');
  for (const d of [cwd, home, user]) fs.mkdirSync(d, { recursive: true });
  const write = (dir, files) => { for (const [f, text] of Object.entries(files ?? {})) { const p = path.join(dir, f); fs.mkdirSync(path.dirname(p), { recursive: true }); fs.writeFileSync(p, text); } };
  write(cwd, c.input.files); write(home, c.input.home_files);
  let setupThread;
  const once = async (spec, script, sub) => {
    const model = await endpoint(script);
    const fill = s => s.replaceAll('<CWD>', cwd).replaceAll('<AUX>', AUX).replaceAll('<SETUP_THREAD_ID>', setupThread ?? '');
    const args = ['exec', '--json', ...(spec.no_skip_git_repo_check ? [] : ['--skip-git-repo-check']),
      '-c', 'model_provider="mock"',
      '-c', `model_providers.mock={name="mock",base_url="http://127.0.0.1:${model.port}/v1",wire_api="responses",env_key="MOCK_KEY",supports_websockets=false,request_max_retries=0,stream_max_retries=0}`,
      '-m', spec.model ?? 'gpt-5.5', ...(spec.flags ?? []).map(fill), ...(sub ?? []).map(fill), ...(spec.prompt === null ? [] : [spec.prompt ?? 'go'])];
    const r = await start(args, { cwd, stdin: spec.stdin ?? '', env: { PATH, HOME: user, SHELL: '/bin/bash', MOCK_KEY: 'x', RUST_BACKTRACE: '0', [o['home-var']]: home } });
    model.close();
    return { ...r, requests: model.requests, port: model.port };
  };
  if (c.input.setup) {
    const s = await once(c.input.setup, c.input.setup.responses);
    try { setupThread = JSON.parse(s.stdout.split('\n')[0]).thread_id; } catch { return { problems: [`the run to be resumed printed no thread id (exit ${s.code}): ${short(s.stderr)}`] }; }
  }
  const r = await once(c.input, c.input.model_script, c.input.subcommand);
  const ids = new Map();
  const normal = text => text.replaceAll(cwd, '<CWD>').replaceAll(home, '<CODEX_HOME>').replaceAll(AUX, '<AUX>').replaceAll(user, '<HOME>').replaceAll(`127.0.0.1:${r.port}`, '127.0.0.1:<PORT>')
    .replace(/\b(?!0{8}-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, id => { if (!ids.has(id)) ids.set(id, `<UUID_${ids.size + 1}>`); return ids.get(id); });
  const seen = {
    exit_code: r.code, requests: r.requests.length, stderr: r.stderr, setupThread,
    events: normal(r.stdout).split('\n').filter(Boolean).map(line => { try { return JSON.parse(line); } catch { return { non_json: line }; } }),
    thread: [...ids].find(([, n]) => n === '<UUID_1>')?.[0],
    tool_outputs: r.requests.length < 2 ? [] : (r.requests.at(-1).input ?? []).filter(x => /_output$/.test(x.type ?? '')).map(x => ({ type: x.type, call_id: x.call_id, output: JSON.parse(normal(JSON.stringify(x.output))) })),
    last_user_content: (r.requests.at(-1)?.input ?? []).filter(x => x.type === 'message' && x.role === 'user').map(x => x.content.map(p => p.text ?? `[${p.type}]`)).at(-1),
    text_format: r.requests[0]?.text?.format,
    files: Object.fromEntries(Object.keys(c.expect.files ?? {}).map(f => { try { return [f, fs.readFileSync(path.join(cwd, f), 'utf8')]; } catch { return [f, null]; } })),
  };
  if (!o.keep) fs.rmSync(base, { recursive: true, force: true });
  return { problems: judge(seen, { ...c.expect, ...(o.reference ? {} : c.deviation?.expect) }), seen };
}

// ---------------------------------------------------------------- comparison
const short = v => { const s = typeof v === 'string' ? v : JSON.stringify(v) ?? 'nothing'; return o.verbose || s.length < 260 ? s : s.slice(0, 250) + '…'; };
const isObject = x => x && typeof x === 'object' && !Array.isArray(x);
const same = (a, b) => a === b || (Array.isArray(a) ? Array.isArray(b) && a.length === b.length && a.every((x, i) => same(x, b[i])) : isObject(a) && isObject(b) && Object.keys(a).length === Object.keys(b).length && Object.keys(a).every(k => k in b && same(a[k], b[k])));

// Texts about failures: the same cause is enough. The first entry whose first pattern fits the recorded text decides;
// its second pattern (default: the first) must fit the observed one.
const CAUSES = [
  [/metadata for `([^`]*)` not found/i, m => t => t.includes(m[1])],                                     // unknown model: names it
  [/bypass-hook-trust/i, () => t => /hook/i.test(t)],
  [/no such file or directory/i, () => t => /no such (file|directory)|does not exist|not found|ENOENT/i.test(t)],
  [/context (window|length)|context_length/i, () => t => /context (window|length)|too (long|large)/i.test(t)],
  [/max_output_tokens/i, () => t => /max_output_tokens|output (token )?limit|incomplete|cut off/i.test(t)],
  [/stream disconnected|stream closed/i, () => t => /disconnect|clos(ed|ing)|connection|stream (was |has )?(cut|broke|ended|interrupted)|before (it|the response|response)/i.test(t)],
  [/\b401\b|unauthorized/i, () => t => /401|unauthori[sz]ed|api key|credential|rejected the key/i.test(t)],
  [/high demand|\b5\d\d\b|server error/i, () => t => /\b5\d\d\b|high demand|overload|server error|unavailable|temporar/i.test(t)],
  [/^\{"error":/, m => t => { let said; try { said = JSON.parse(m.input).error.message; } catch { } return t.includes(said ?? m.input); }],   // raw body: the provider's message
  [/failed to parse (function )?arguments/i, () => t => /arguments?|json/i.test(t) && /parse|invalid|malformed|not valid|could not/i.test(t)],
  [/^unsupported call: (\S+)/i, m => t => t.includes(m[1])],                                              // unknown tool: names it
  [/approval policy is never/i, () => t => /never/i.test(t) && /escalat|permission|approval/i.test(t)],
];
function sameCause(want, got) {
  if (typeof got !== 'string') return false;
  if (want === got) return true;
  for (const [re, test] of CAUSES) { const m = re.exec(want); if (m) return test(m)(got); }
  return false;
}
// A sandbox may refuse a write with another error number; the shell's sentence around it stays.
const DENIED = /Read-only file system|Permission denied|Operation not permitted/g;
const runText = s => { const t = s.replace(/Chunk ID: [0-9a-f]+/g, 'Chunk ID: <CHUNK>').replace(/Wall time: [\d.]+ seconds/g, 'Wall time: <T> seconds').replace(/session ID \d+/g, 'session ID <SESSION_ID>'); const u = t.replace(DENIED, '<DENIED>'); return u === t ? t : u.replace(/Original token count: \d+/, 'Original token count: <N>'); };

// An item of a refused call (status "declined") is extra: it is taken out and later item numbers move down. A warning
// item that repeats the one before it counts once.
function tidy(events) {
  const gone = new Set(), number = id => /^item_(\d+)$/.exec(id ?? '')?.[1];
  for (const e of events) if (e.item?.status === 'declined' && number(e.item.id) !== undefined) gone.add(+number(e.item.id));
  let previous;
  const kept = events.filter(e => {
    if (e.item?.status === 'declined' || (number(e.item?.id) !== undefined && gone.has(+number(e.item.id)))) return false;
    const repeated = e.type === 'item.completed' && e.item?.type === 'error' && previous?.item?.type === 'error' && previous.item.message === e.item.message;
    if (repeated && number(e.item.id) !== undefined) gone.add(+number(e.item.id));
    previous = e;
    return !repeated;
  });
  return kept.map(e => number(e.item?.id) === undefined ? e : { ...e, item: { ...e.item, id: `item_${+number(e.item.id) - [...gone].filter(n => n < +number(e.item.id)).length}` } });
}
function eventProblem(want, got) {
  const w = structuredClone(want), g = structuredClone(got);
  const texts = [];
  const pull = (pick, put) => { const a = pick(w), b = pick(g); if (typeof a === 'string' && typeof b === 'string') { texts.push([a, b]); put(w); put(g); } };
  if (w.type === 'error') pull(e => e.message, e => { e.message = '<text>'; });
  if (w.type === 'turn.failed') pull(e => e.error?.message, e => { e.error.message = '<text>'; });
  if (w.item?.type === 'error') pull(e => e.item?.message, e => { e.item.message = '<text>'; });
  if (w.item?.type === 'command_execution') {
    if (w.item.exit_code === -1) pull(e => e.item?.aggregated_output, e => { e.item.aggregated_output = '<text>'; });   // never started
    else for (const e of [w, g]) if (typeof e.item?.aggregated_output === 'string') e.item.aggregated_output = e.item.aggregated_output.replace(DENIED, '<DENIED>');
  }
  if (!same(w, g)) return `expected ${short(want)}, got ${short(got)}`;
  for (const [a, b] of texts) if (!sameCause(a, b)) return `text ${short(JSON.stringify(b))} does not carry the cause of ${short(JSON.stringify(a))}`;
}
// Tool outputs. A recorded output of a run is compared as a whole; one that says that nothing ran must hold its reason.
const REPORT = /^(Chunk ID:|Exit code:|Wall time:|Plan updated)/;
function reason(text) {
  const wrapped = /CreateProcess \{ message: "Rejected\((\\".*\\")\)" \}$/s.exec(text);   // the inner quotes are escaped
  let t = text;
  if (wrapped) try { t = JSON.parse(JSON.parse(`"${wrapped[1]}"`)); } catch { t = wrapped[1]; }
  return t.replace(/^`[^`]*` rejected: /s, '').replace(/^Command blocked by PreToolUse hook: (.*)\. Command: .*$/s, '$1')
    .replace(/^patch rejected: /, '').replace(/^apply_patch verification failed: /, '').replace(/^exec_command failed: /, '');
}
function outputProblem(want, got) {
  if (isObject(want)) {                                        // {contains, lacks}: written by a deviation
    const text = typeof got === 'string' ? got : JSON.stringify(got);
    const missing = (want.contains ?? []).find(s => !text.includes(s)), extra = (want.lacks ?? []).find(s => text.includes(s));
    return missing !== undefined ? `lacks ${JSON.stringify(missing)}: ${short(text)}` : extra !== undefined ? `must not hold ${JSON.stringify(extra)}: ${short(text)}` : undefined;
  }
  const report = typeof want !== 'string' || REPORT.test(want);
  if (report) { const flat = v => typeof v === 'string' ? runText(v) : Array.isArray(v) ? v.map(p => typeof p?.text === 'string' ? { ...p, text: runText(p.text) } : p) : v; return same(flat(want), flat(got)) ? undefined : `expected ${short(want)}, got ${short(got)}`; }
  const core = reason(want);
  if (typeof got === 'string' && (got.includes(core) || sameCause(core, got))) return undefined;
  return `expected the reason ${short(JSON.stringify(core))}, got ${short(got)}`;
}
function judge(seen, want) {
  const out = [];
  const hint = () => seen.stderr ? ` — stderr: ${short(seen.stderr.trim().split('\n').slice(-3).join(' | '))}` : '';
  if (seen.exit_code !== want.exit_code) out.push(`exit status ${seen.exit_code}, expected ${want.exit_code}${hint()}`);
  if (seen.requests !== want.requests) out.push(`${seen.requests} model requests, expected ${want.requests}`);
  const w = tidy(want.events), g = tidy(seen.events);
  for (let i = 0; i < Math.max(w.length, g.length); i++) {
    const p = i >= g.length ? `missing ${short(w[i])}` : i >= w.length ? `unexpected ${short(g[i])}` : eventProblem(w[i], g[i]);
    if (p) { out.push(`event ${i}: ${p}`); break; }
  }
  if (seen.tool_outputs.length !== want.tool_outputs.length) out.push(`${seen.tool_outputs.length} tool outputs in the last request, expected ${want.tool_outputs.length}`);
  else want.tool_outputs.forEach((t, i) => { const s = seen.tool_outputs[i]; if (s.type !== t.type || s.call_id !== t.call_id) out.push(`tool output ${i} is ${s.type} ${s.call_id}, expected ${t.type} ${t.call_id}`); else { const p = outputProblem(t.output, s.output); if (p) out.push(`output of ${t.call_id}: ${p}`); } });
  if (want.last_user_content && !same(seen.last_user_content, want.last_user_content)) out.push(`last user content ${short(seen.last_user_content)}, expected ${short(want.last_user_content)}`);
  if (want.text_format && !same({ ...seen.text_format, name: 0 }, { ...want.text_format, name: 0 })) out.push(`text format ${short(seen.text_format)}, expected ${short(want.text_format)}`);
  if (want.files && !same(seen.files, want.files)) out.push(`files ${short(seen.files)}, expected ${short(want.files)}`);
  if (seen.setupThread && want.events.length && seen.thread !== seen.setupThread) out.push('the resumed run has another thread id');
  return out;
}

// ---------------------------------------------------------------- all cases
let next = 0, passed = 0, failed = 0;
await Promise.all(Array.from({ length: Math.max(1, +o.jobs) }, async () => {
  while (next < cases.length) {
    const c = cases[next++];
    let problems = [], tries = 0;
    do problems = (await attempt(c, `${c.name}-${tries}`).catch(e => ({ problems: [String(e.stack ?? e)] }))).problems; while (problems.length && tries++ < +o.retries);
    if (problems.length) { failed++; console.log(`FAIL ${c.name}: ${problems.join('; ')}${c.deviation ? ` [deviation: ${c.deviation.why}]` : ''}`); }
    else { passed++; if (o.verbose || tries) console.log(`ok   ${c.name}${tries ? ` (try ${tries + 1})` : ''}`); }
  }
}));
if (!o.keep) fs.rmSync(scratch, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
