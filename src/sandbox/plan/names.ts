/** Names that are protected wherever a command may write, because someone else will run or obey what they hold. */

/** Protected in every writable root, whether they exist or not: nothing may be planted there. */
export const RESERVED_NAMES = ['.git', '.codex', '.agents', '.turnwright'] as const;

/** Protected in every writable root when they exist. */
export const EXISTING_NAMES = [
  '.aws',
  '.vscode',
  '.idea',
  '.claude',
  '.cursor',
  '.gemini',
  '.husky',
  '.devcontainer',
  '.envrc',
  '.mcp.json',
  '.gitmodules',
] as const;

/** Protected below the home directory when it lies in a writable root: what a shell, git or ssh runs or trusts. */
export const HOME_NAMES = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.config/fish',
  '.inputrc',
  '.gitconfig',
  '.config/git',
  '.git-credentials',
  '.ssh',
  '.gnupg',
  '.aws',
  '.npmrc',
  '.pypirc',
  '.netrc',
  '.local/bin',
  '.cargo/bin',
  '.cargo/config.toml',
  '.config/autostart',
  '.config/systemd',
] as const;

/** Inside a `.git` that accepts commits: what makes git run programs, and what points elsewhere. */
export const GIT_TRUSTED_NAMES = ['config', 'config.worktree', 'hooks', 'info', 'objects/info/alternates'] as const;

/** The same for a directory that is itself a repository. */
export const BARE_TRUSTED_NAMES = ['config', 'hooks', 'info'] as const;

/** Directories in `/tmp` that hold the sockets of the user's other programs. */
export const PRIVATE_TMP_NAMES = [/^\.X11-unix$/, /^\.ICE-unix$/, /^ssh-/, /^tmux-\d+$/, /^dbus-/, /^turnwright-\d+$/];

/** Directories a search for nested repositories does not enter. */
export const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set([
  'node_modules',
  'target',
  '.venv',
  'venv',
  '__pycache__',
]);
