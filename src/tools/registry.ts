/** The tools of a thread, by name. */
import type { ModelCapabilities, ToolSpec } from '../model/index.js';
import type { Tool } from '../orchestrator/index.js';
import type { ToolPayload } from '../protocol/index.js';

/** A name models were trained on, mapped to a tool that does the same. */
export interface ToolAlias {
  readonly name: string;
  readonly tool: string;
  convert(payload: ToolPayload): ToolPayload;
}

export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  readonly #aliases = new Map<string, ToolAlias>();
  readonly #hosted: readonly ToolSpec[];
  #more: readonly Tool[] = [];

  constructor(tools: readonly Tool[], options: { aliases?: readonly ToolAlias[]; hosted?: readonly ToolSpec[] } = {}) {
    for (const tool of tools) this.#tools.set(tool.spec.name, tool);
    for (const alias of options.aliases ?? []) this.#aliases.set(alias.name, alias);
    this.#hosted = options.hosted ?? [];
  }

  /** Tools that come and go while the thread lives (MCP servers). They are offered behind the others. */
  setMore(tools: readonly Tool[]): void {
    this.#more = tools;
  }

  /** The tool for a call, with the payload as that tool wants it. */
  find(name: string, payload: ToolPayload): { tool: Tool; payload: ToolPayload } | undefined {
    const tool = this.#tools.get(name) ?? this.#more.find((one) => one.spec.name === name);
    if (tool) return { tool, payload };
    const alias = this.#aliases.get(name);
    const target = alias && this.#tools.get(alias.tool);
    return alias && target ? { tool: target, payload: alias.convert(payload) } : undefined;
  }

  /** What the model is offered, in a fixed order so that requests share their prefix. */
  specs(capabilities: ModelCapabilities): readonly ToolSpec[] {
    const own = [...this.#tools.values(), ...this.#more]
      .map((tool) => tool.spec)
      .filter((spec) => spec.name !== 'view_image' || capabilities.images);
    return capabilities.hostedWebSearch ? [...own, ...this.#hosted] : own;
  }
}
