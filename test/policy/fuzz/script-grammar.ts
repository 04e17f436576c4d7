/** Random shell scripts that call recorded programs in every way the grammar offers, and a few it does not. */
import type { Random } from './random.js';

export const PROGRAMS = ['aa', 'bb', 'cc', 'dd', 'ee', 'ff', 'gg'];
const MUTATIONS = [...'\'"\\$(){}<>&|;# \n`*!=[]~0129,:'];

export type ShellName = 'bash' | 'dash';

export function randomScript(random: Random, shell: ShellName): string {
  const script = new Grammar(random, shell).list(2);
  return random.chance(0.25) ? mutate(script, random) : script;
}

/** One to three characters added, removed or doubled. */
function mutate(script: string, random: Random): string {
  let out = script;
  for (let i = 0; i <= random.below(3); i++) {
    const at = random.below(out.length + 1);
    const cut = random.below(3);
    out = out.slice(0, at) + (cut < 2 ? random.pick(MUTATIONS) : '') + out.slice(at + (cut > 0 ? 1 : 0));
  }
  return out;
}

class Grammar {
  readonly #random: Random;
  readonly #shell: ShellName;

  constructor(random: Random, shell: ShellName) {
    this.#random = random;
    this.#shell = shell;
  }

  list(depth: number): string {
    const parts = Array.from({ length: 1 + this.#random.below(2) }, () => this.#pipeline(depth));
    return parts.reduce(
      (all, next) => all + this.#random.pick([' && ', ' || ', '; ', '\n', ';', '&&', ' & ', ' &\n', ' ||\n']) + next,
    );
  }

  #pipeline(depth: number): string {
    const commands = Array.from({ length: this.#random.chance(0.25) ? 2 : 1 }, () => this.#command(depth));
    const joined = commands.join(this.#random.pick([' | ', '|', ' |\n', this.#shell === 'bash' ? ' |& ' : ' | ']));
    return this.#random.chance(0.08)
      ? `! ${joined}`
      : this.#random.chance(0.05)
        ? `${this.#random.pick(['time ', 'time -p ', 'time A=1 ', 'time ! '])}${joined}`
        : joined;
  }

  #command(depth: number): string {
    if (depth <= 0 || this.#random.chance(0.45)) return this.#simple(depth);
    const inner = () => this.list(depth - 1);
    const choices = [
      () => `(${inner()})`,
      () => `( ${inner()} )${this.#redirects()}`,
      () => `{ ${inner()}; }${this.#redirects()}`,
      () => `if ${this.#simple(0)}; then ${inner()}; else ${inner()}; fi`,
      () => `if ${this.#simple(0)}\nthen ${inner()}\nelif ${this.#simple(0)}; then ${inner()}\nfi`,
      () => `for v in x ${this.#word(depth - 1)}; do ${inner()}; break; done`,
      () => `while ${this.#simple(0)}; do ${inner()}; break; done`,
      () => `until ff; do ${inner()}; break; done`,
      () => `case ${this.#word(depth - 1)} in x|y) ${inner()};; *) ${inner()};; esac`,
      () => `case x in\n(x) ${inner()}\n;;\nesac`,
      () => `fn${depth}() { ${inner()}; }; fn${depth}`,
      () => this.#launcher(depth - 1),
      () => this.#launcher(depth - 1),
      () => this.#innerScript(depth - 1),
      () => `${this.#simple(0)} # ${this.#name()} x\n${inner()}`,
      ...(this.#shell === 'bash' ? this.#bashOnly(depth - 1) : []),
    ];
    return this.#random.pick(choices)();
  }

  #bashOnly(depth: number): (() => string)[] {
    return [
      () => `[[ ${this.#word(depth)} == x || -n ${this.#word(depth)} ]]`,
      () =>
        `(( ${this.#random.pick(['1', '1 + 1', `$(${this.#simple(0)} >/dev/null; echo 1)`, '0', "'`aa`'", '"$(bb)"', `${this.#simple(0)}`])} ))`,
      () => `function fb${depth} { ${this.list(depth)}; }; fb${depth}`,
      () => this.#evaluated(),
      () => `for ((i=0;i<1;i++)); do ${this.list(depth)}; done`,
      () => `coproc ${this.#simple(0)}`,
      () => `coproc NM { ${this.#simple(0)}; }`,
      () => `arr=(${this.#word(depth)} ${this.#word(depth)})`,
      () => `case x in x) ${this.list(depth)};& *) ${this.list(depth)};; esac`,
    ];
  }

  /** Text that bash evaluates although it is quoted. */
  #evaluated(): string {
    const text = `a[$(${this.#random.pick(PROGRAMS)})]`;
    return this.#random.pick([
      `test -v '${text}'`,
      `[ -v '${text}' ]`,
      `[[ -v '${text}' ]]`,
      `printf -v '${text}' x`,
      `unset '${text}'`,
      `let 'y=${text}'`,
      `declare '${text}=1'`,
      `read '${text}' <f`,
      `y='${text}'; echo $((y))`,
      `y='${text}'; (( y ))`,
      `y='${text}'; [[ y -eq 1 ]]`,
      `y='${text}'; echo "\${V:y}"`,
      `declare -i z='${text}'`,
      `y='${text}'; arr[y]=1`,
    ]);
  }

  #simple(depth: number): string {
    const assignments = this.#random.chance(0.15)
      ? `${this.#random.pick(['A=1', 'B=', "C='x y'", `D=${this.#word(depth)}`])} `
      : '';
    const lead = this.#random.chance(0.06) ? `${this.#redirect()} ` : '';
    const words = Array.from({ length: this.#random.below(4) }, () => this.#word(depth));
    return `${assignments}${lead}${[this.#name(), ...words].join(' ')}${this.#redirects()}`;
  }

  /** The program's name in one of its spellings. */
  #name(): string {
    const name = this.#random.pick(PROGRAMS);
    if (this.#random.chance(0.03)) return this.#random.pick([`\${Z}${name}`, `"$(echo ${name})"`]);
    const [a, b] = [name[0]!, name[1]!];
    return this.#random.pick([
      name,
      name,
      name,
      name,
      `'${name}'`,
      `"${name}"`,
      `${a}'${b}'`,
      `\\${name}`,
      `${a}\\${b}`,
      `${a}\\\n${b}`,
      `"${a}"'${b}'`,
      `''${name}`,
      `./${name}`,
      ...(this.#shell === 'bash' ? [`$'${name}'`, `$'\\x${a.charCodeAt(0).toString(16)}'${b}`] : []),
    ]);
  }

  #word(depth: number): string {
    if (this.#shell === 'bash' && this.#random.chance(0.01)) return `12>(${this.#random.pick(PROGRAMS)})`;
    const plain = [
      'x',
      '-n',
      "'a b'",
      '"c d"',
      'k=v',
      'a#b',
      '12',
      "''",
      '""',
      'e\\ f',
      '\\$x',
      "'$(aa)'",
      "'`aa`'",
      '"\\$(aa)"',
      '@',
      '%s',
      'x,y',
    ];
    if (depth <= 0 || this.#random.chance(0.6)) return this.#random.pick(plain);
    const inner = () => this.#simple(depth - 1);
    return this.#random.pick([
      () => `$(${inner()})`,
      () => `"$(${inner()})"`,
      () => `pre$(${inner()})post`,
      () => `\`${inner().replaceAll(/[`\\]/g, '')}\``,
      () => `\${V:-$(${inner()})}`,
      () => `"\${V:-\`${this.#random.pick(PROGRAMS)}\`}"`,
      () => '$V',
      () => '"$V"',
      () => '*.z',
      () => '~',
      () => `$(( 1 + 1 ))`,
      () => `$(echo $(${inner()}))`,
      ...(this.#shell === 'bash'
        ? [
            () => `<(${inner()})`,
            () => '{p,q}',
            () => "$'t\\tu'",
            () => `12>(${inner()})`,
            () => `$(<f)`,
            () => `@(x|y)`,
          ]
        : []),
    ])();
  }

  #redirects(): string {
    return this.#random.chance(0.2) ? ` ${this.#redirect()}` : '';
  }

  #redirect(): string {
    return this.#random.pick([
      '>o1',
      '> o2',
      '>>o3',
      '2>&1',
      '2>/dev/null',
      '</dev/null',
      '3>&1',
      '>|o4',
      '>&2',
      '<>o5',
      ...(this.#shell === 'bash' ? ['&>o6', `<<< "$(${this.#random.pick(PROGRAMS)})"`, '{fd}>o7'] : []),
    ]);
  }

  #launcher(depth: number): string {
    const prefix = this.#random.pick([
      'env',
      'env A=1',
      'env =x B=',
      'env -u A',
      'timeout 2',
      'timeout -s KILL 2',
      'nice',
      'nice -n 1',
      'nohup',
      'command',
      'command -p',
      'command -v',
      'stdbuf -o0',
      'setsid -w',
      'exec',
      'echo x | xargs',
      'echo x | xargs -n 1',
      'echo x | xargs -I{}',
      "env -S 'nice -n 1'",
      'env env nice',
    ]);
    const simple = `${this.#random.pick(PROGRAMS)} ${this.#word(0)}`;
    const find = `find . -maxdepth 0 -exec ${this.#random.pick(PROGRAMS)} {} ${this.#random.pick(['\\;', '+', "';'"])}`;
    if (this.#random.chance(0.15)) return find;
    return prefix === 'exec'
      ? `(exec ${simple})`
      : `${prefix} ${this.#random.chance(0.7) ? simple : this.#simple(depth)}`;
  }

  #innerScript(depth: number): string {
    const script = this.list(Math.max(0, depth - 1));
    const quoted = `'${script.replaceAll("'", "'\\''")}'`;
    return this.#random.pick([
      `bash -c ${quoted}`,
      `bash -ec ${quoted} arg0 arg1`,
      `sh -c ${quoted}`,
      `dash -c ${quoted}`,
      `eval ${quoted}`,
      `trap ${quoted} EXIT`,
      `env A=1 bash -c ${quoted}`,
      `bash <<'EOF'\n${script}\nEOF\n`,
      `cat <<EOF\n$(${this.#random.pick(PROGRAMS)})\nEOF\n`,
      `cat <<'EOF'\n$(${this.#random.pick(PROGRAMS)})\nEOF\n`,
      `cat <<-EOF >o8\n\tx \`${this.#random.pick(PROGRAMS)}\`\n\tEOF\n`,
      `alias al='${this.#random.pick(PROGRAMS)}'\nal`,
      `echo '${this.#random.pick(PROGRAMS)}' | sh`,
    ]);
  }
}
