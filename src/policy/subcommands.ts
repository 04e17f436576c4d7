/**
 * Programs with subcommands accept options before them: `git -C dir push`. A rule that asks about or forbids
 * `git push` must see through those; a rule that allows is compared with the words as written.
 */
import type { SegmentWord } from './lower/segment.js';

/** Options that take the next word as value, per program; every other option is taken to stand alone. */
const VALUE_OPTIONS: Readonly<Record<string, string>> = {
  git: '-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --exec-path',
  hg: '-R --repository --cwd --config --encoding',
  svn: '--config-dir --config-option --username --password',
  gh: '-R --repo --hostname',
  glab: '-R --repo',
  npm: '--prefix -C -w --workspace --registry --userconfig --globalconfig --cache --loglevel --otp --tag',
  pnpm: '-C --dir -F --filter --registry --loglevel --store-dir',
  yarn: '--cwd --registry --cache-folder --use-yarnrc',
  bun: '--cwd -c --config --env-file',
  deno: '-L --log-level --config -c',
  docker:
    '-c --context -H --host --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --profile --env-file --project-directory',
  podman: '-c --connection --url --root --runroot --log-level --config --identity',
  nerdctl: '-n --namespace -a --address --host',
  kubectl:
    '-n --namespace --context --cluster --kubeconfig --user -s --server --token --as --as-group --request-timeout -v --cache-dir --profile',
  oc: '-n --namespace --context --cluster --kubeconfig --user -s --server --token --as',
  helm: '-n --namespace --kube-context --kubeconfig --registry-config --repository-config',
  cargo: '-C -Z --config --color --manifest-path --target-dir',
  rustup: '--toolchain',
  go: '-C',
  pip: '--python --proxy --log --timeout --retries --cache-dir --cert --exists-action',
  pip3: '--python --proxy --log --timeout --retries --cache-dir --cert --exists-action',
  uv: '--directory --project --config-file --cache-dir --python',
  poetry: '-C --directory -P --project',
  python: '-W -X --check-hash-based-pycs',
  python3: '-W -X --check-hash-based-pycs',
  ruby: '-I -r -C -E',
  node: '-r --require --import --loader --env-file -C --conditions',
  apt: '-o -c -t --option --config-file --target-release',
  'apt-get': '-o -c -t --option --config-file --target-release',
  dnf: '-c --config --releasever --installroot --setopt',
  yum: '-c --config --releasever --installroot --setopt',
  pacman: '-b --dbpath -r --root --config --cachedir',
  brew: '',
  systemctl: '-H --host -M --machine -t --type -p --property -s --signal --root -n --lines -o --output',
  launchctl: '',
  terraform: '',
  tofu: '',
  aws: '--profile --region --output --endpoint-url --query --cli-read-timeout --cli-connect-timeout --ca-bundle',
  gcloud: '--project --account --configuration --format --verbosity --impersonate-service-account',
  az: '--subscription --output -o --query',
  make: '-C -f -I -o -W -E --directory --file --makefile --include-dir --old-file --what-if --eval',
  gmake: '-C -f -I -o -W -E --directory --file --makefile',
  ninja: '-C -f -j -l -k -t -d -w',
  bazel: '--output_base --output_user_root --bazelrc --server_javabase',
  gradle: '-p --project-dir -b --build-file -c --settings-file -g --gradle-user-home -I --init-script',
  mvn: '-f --file -s --settings -P -D -pl -T',
  dotnet: '',
  flyctl: '-a --app -c --config -t --access-token',
  heroku: '-a --app -r --remote',
  vercel: '--cwd --scope -S --token -t -A --local-config',
  adb: '-s -H -P -L -t',
  tmux: '-L -S -f -c',
  screen: '-S -c -D -r',
  supervisorctl: '-c -s -u -p',
  sqlite3: '-cmd -init -separator -nullvalue',
  psql: '-h -p -U -d -f -v -o',
  mysql: '-h -P -u -D -S',
  redis: '',
};
const TABLE = new Map(
  Object.entries(VALUE_OPTIONS).map(([name, list]) => [name, new Set(list.split(' ').filter(Boolean))]),
);
const PYTHON = /^(python|pypy)[0-9.]*$/;

/** Other ways to read the command, for rules that restrict. The first word is the base name. */
export function readings(words: readonly SegmentWord[]): readonly (readonly SegmentWord[])[] {
  const [name] = words;
  if (typeof name !== 'string') return [];
  const values = TABLE.get(name) ?? (PYTHON.test(name) ? TABLE.get('python') : undefined);
  if (!values) return [];
  const out: (readonly SegmentWord[])[] = [];
  const start = skipOptions(words, 1, values, PYTHON.test(name));
  if (start > 1 && start < words.length) out.push([name, ...words.slice(start)]);
  if (PYTHON.test(name) && words[start] === '-m' && words.length > start + 1) out.push(words.slice(start + 1));
  const bare = withoutOptions(words, values);
  if (bare.length > 1 && bare.length < words.length) out.push(bare);
  return out;
}

/** Is the program one whose first words name what it does? */
export function hasSubcommands(name: string): boolean {
  return TABLE.has(name);
}

function skipOptions(
  words: readonly SegmentWord[],
  from: number,
  values: ReadonlySet<string>,
  module: boolean,
): number {
  let at = from;
  while (at < words.length) {
    const word = words[at];
    if (typeof word !== 'string' || (module && word === '-m')) break;
    if (word === '--') return at + 1;
    if (word.startsWith('+') && at === 1) at++;
    else if (!word.startsWith('-')) break;
    else at += values.has(word) ? 2 : 1;
  }
  return at;
}

function withoutOptions(words: readonly SegmentWord[], values: ReadonlySet<string>): readonly SegmentWord[] {
  const out: SegmentWord[] = [words[0]!];
  for (let at = 1; at < words.length && out.length < 8; at++) {
    const word = words[at]!;
    if (typeof word !== 'string' || !(word.startsWith('-') || (word.startsWith('+') && at === 1))) out.push(word);
    else if (values.has(word)) at++;
  }
  return out;
}
