/** `web_search` is run by the provider; the engine only offers it and passes its items through. */
import type { ToolSpec } from '../model/index.js';

/** `cached` lets the provider answer from its index, `live` lets it fetch pages. */
export function webSearchSpec(mode: 'cached' | 'live'): ToolSpec {
  return {
    name: 'web_search',
    description: 'Searches the web.',
    kind: { type: 'hosted', options: { type: 'web_search', external_web_access: mode === 'live' } },
  };
}
