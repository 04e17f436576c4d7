/** What is known about models, by the beginning of their names. A name not found gets the cautious fallback. */
import type { ModelCapabilities } from './port.js';

/** Capabilities plus what only the encoders need. */
export interface ModelTraits extends ModelCapabilities {
  readonly defaultEffort?: string;
  readonly defaultVerbosity?: string;
}

const MODERN: ModelTraits = {
  customTools: true,
  hostedWebSearch: true,
  parallelToolCalls: true,
  reasoning: true,
  images: true,
  outputSchema: true,
  verbosity: true,
  contextWindow: 272_000,
  known: true,
  defaultEffort: 'medium',
  defaultVerbosity: 'low',
};
const CODEX: ModelTraits = withoutVerbosity({ ...MODERN });
const REASONING_FUNCTIONS_ONLY: ModelTraits = withoutVerbosity({
  ...MODERN,
  customTools: false,
  contextWindow: 200_000,
});
const PLAIN: ModelTraits = {
  ...withoutVerbosity({ ...MODERN, customTools: false, reasoning: false }),
  contextWindow: 1_047_576,
};

const CLAUDE: ModelTraits = withoutEffort({
  ...REASONING_FUNCTIONS_ONLY,
  hostedWebSearch: false,
  contextWindow: 200_000,
});

/** Longest prefix wins. A prefix ends at a name's end, `-`, `.` or `:`. Codex 0.171 has no entry for gpt-5.1 and older. */
const MODELS: readonly (readonly [prefix: string, traits: ModelTraits])[] = [
  ['gpt-6', { ...MODERN, contextWindow: 400_000 }],
  ['gpt-5.2', MODERN],
  ['gpt-5.2-codex', CODEX],
  ['gpt-5.3', MODERN],
  ['gpt-5.3-codex', CODEX],
  ['gpt-5.4', MODERN],
  ['gpt-5.4-codex', CODEX],
  ['gpt-5.5', MODERN],
  ['gpt-5.5-codex', CODEX],
  ['gpt-5.6', { ...MODERN, contextWindow: 400_000 }],
  ['codex-mini', REASONING_FUNCTIONS_ONLY],
  ['o3', REASONING_FUNCTIONS_ONLY],
  ['o4-mini', REASONING_FUNCTIONS_ONLY],
  ['gpt-4.1', PLAIN],
  ['claude-opus', CLAUDE],
  ['claude-sonnet', CLAUDE],
  ['claude-haiku', CLAUDE],
];

/** For models nobody told us about: function tools, text, no provider features. Requested settings are still passed on. */
const FALLBACK: ModelTraits = {
  customTools: false,
  hostedWebSearch: false,
  parallelToolCalls: true,
  reasoning: false,
  images: true,
  outputSchema: true,
  verbosity: false,
  known: false,
};

/** A vendor prefix (`openai/gpt-5.5`) does not matter. */
export function lookUpModel(model: string): ModelTraits {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  let best: readonly [string, ModelTraits] | undefined;
  for (const entry of MODELS) {
    const [prefix] = entry;
    const fits = name.startsWith(prefix) && (name.length === prefix.length || '-.:'.includes(name[prefix.length]!));
    if (fits && prefix.length > (best?.[0].length ?? 0)) best = entry;
  }
  return best?.[1] ?? FALLBACK;
}

function withoutVerbosity({ defaultVerbosity: _, ...traits }: ModelTraits): ModelTraits {
  return { ...traits, verbosity: false };
}

function withoutEffort({ defaultEffort: _, ...traits }: ModelTraits): ModelTraits {
  return traits;
}
