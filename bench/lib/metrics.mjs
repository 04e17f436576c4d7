// From results to ratios, and what the ratios should be.
import { median } from './numbers.mjs';

/** The most a ratio may be (or the least, for `overlap` and `decodeRate`), where there is a target. */
const TARGETS = {
  version: { floor: 1.15 },
  startToRequest: { floor: 1.75, codex: 0.4 },
  gapFull: { floor: 1.15, codex: 0.15 },
  gapSandboxed: { floor: 1.2, codex: 0.17 },
  ownCpuFull: { floor: 1.5, codex: 0.2 },
  ownCpuSandboxed: { floor: 1.5, codex: 0.2 },
  writtenFull: { codex: 0.05 },
  writtenSandboxed: { codex: 0.05 },
  parallel: { floor: 1, codex: 0.65 },
  historySlope: { floor: 3, codex: 0.1 },
  deltaCpu: { floor: 1.3, codex: 0.25 },
};

export function createMetrics() {
  return {
    /**
     * One metric: `runs` by program name, `pick` takes the number of a run, `merge` makes one of many.
     * Ratios are ours over theirs.
     */
    metric(id, label, unit, runs, pick, merge = median) {
      const values = Object.fromEntries([...runs].map(([name, list]) => [name, merge(list.map(pick))]));
      const over = (name) => (values[name] === undefined ? {} : { [name]: values.turnwright / values[name] });
      return { id, label, unit, values, ratios: { ...over('floor'), ...over('codex') }, targets: TARGETS[id] ?? {} };
    },
  };
}

export function printTable(metrics) {
  const rows = metrics.map(({ label, unit, values, ratios, targets }) => [
    label,
    `${short(values.turnwright)} ${unit}`,
    ...['floor', 'codex'].flatMap((name) => [short(ratios[name]), target(targets[name])]),
  ]);
  const head = ['', 'here', '÷ floor', 'target', '÷ codex', 'target'];
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i].length)));
  const line = (row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ');
  console.log([head, ...rows].map(line).join('\n'));
  console.log(
    '\nMedians of interleaved runs. Only the ratios mean anything: the numbers beside them are those of this machine now.',
  );
}

function short(value) {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function target(value) {
  return value === undefined ? '' : `≤ ${value}`;
}
