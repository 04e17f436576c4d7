/** Environment variables that decide what a later program loads or runs. Setting one takes an allow rule away. */

const EXACT = new Set(
  (
    'PATH BASH_ENV ENV IFS CDPATH SHELL SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND GLOBIGNORE HOME XDG_CONFIG_HOME ' +
    'PAGER MANPAGER SYSTEMD_PAGER LESSOPEN LESSCLOSE LESS EDITOR VISUAL FCEDIT BROWSER TERMINFO TERMCAP ' +
    'PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONEXECUTABLE ' +
    'NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYOPT RUBYLIB LUA_INIT LUA_PATH LUA_CPATH ' +
    'PHPRC PHP_INI_SCAN_DIR JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_HOME CLASSPATH MAVEN_OPTS GRADLE_OPTS ' +
    'RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC RUSTFLAGS GOFLAGS GOTOOLCHAIN MAKEFLAGS MAKEFILES GNUMAKEFLAGS ' +
    'SSH_ASKPASS SUDO_ASKPASS RSYNC_RSH CVS_RSH SVN_SSH HGRCPATH KUBECONFIG DOCKER_HOST DOCKER_CONFIG OPENSSL_CONF ' +
    'GCONV_PATH LOCPATH NLSPATH HOSTALIASES RESOLV_HOST_CONF GETCONF_DIR TMPDIR GH_PAGER GH_EDITOR GH_BROWSER ' +
    'ANSIBLE_CONFIG TF_CLI_CONFIG_FILE AWS_CONFIG_FILE GEM_HOME GEM_PATH BUNDLE_GEMFILE VIMINIT EXINIT'
  ).split(/\s+/),
);
const PREFIXES = [
  'LD_',
  'DYLD_',
  'BASH_FUNC_',
  'GIT_',
  'NPM_CONFIG_',
  'npm_config_',
  'CARGO_',
  'PIP_',
  'UV_',
  'YARN_',
  'COREPACK_',
];
const HARMLESS = new Set([
  'GIT_TERMINAL_PROMPT',
  'GIT_OPTIONAL_LOCKS',
  'CARGO_TERM_COLOR',
  'CARGO_INCREMENTAL',
  'PIP_NO_INPUT',
]);

/** Setting it can make another program run. `value` undefined: known only at run time. */
export function isPoison(name: string, value: string | undefined): boolean {
  if (HARMLESS.has(name) || /^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$/.test(name)) return false;
  if (/PAGER$/.test(name) && (value === 'cat' || value === '')) return false;
  return EXACT.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** The name and value of a `NAME=value` word, or undefined when it is none. */
export function splitAssignment(word: string): { readonly name: string; readonly value: string } | undefined {
  const match = /^([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=/.exec(word);
  return match ? { name: match[1]!, value: word.slice(match[0].length) } : undefined;
}
