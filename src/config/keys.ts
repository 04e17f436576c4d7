/** Every configuration key we know, including those that other programs of the family read and we only tolerate. */
import type { Shape } from './shape.js';

const text: Shape = { kind: 'string' };
const flag: Shape = { kind: 'boolean' };
const raw: Shape = { kind: 'raw' };
const strings: Shape = { kind: 'strings' };
const count: Shape = { kind: 'integer', min: 0 };
const positive: Shape = { kind: 'integer', min: 1 };
const textMap: Shape = { kind: 'map', of: text };
const words = (...list: readonly string[]): Shape => ({ kind: 'words', words: list });
const table = (keys: Readonly<Record<string, Shape>>): Shape => ({ kind: 'table', keys });
const map = (of: Shape): Shape => ({ kind: 'map', of });
const either = (...of: readonly Shape[]): Shape => ({ kind: 'either', of });

export const SANDBOX_MODES = ['read-only', 'workspace-write', 'danger-full-access', 'external'] as const;
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'] as const;

const granular = table({
  granular: table({
    sandbox_approval: flag,
    rules: flag,
    mcp_elicitations: flag,
    request_permissions: flag,
    skill_approval: flag,
  }),
});

const provider = table({
  name: text,
  base_url: text,
  env_key: text,
  env_key_instructions: text,
  experimental_bearer_token: text,
  wire_api: words('responses', 'chat', 'messages'),
  query_params: textMap,
  http_headers: textMap,
  env_http_headers: textMap,
  request_max_retries: count,
  stream_max_retries: count,
  stream_idle_timeout_ms: positive,
  supports_websockets: flag,
  websocket_connect_timeout_ms: positive,
  requires_openai_auth: flag,
  auth: raw,
  aws: raw,
});

const domainAccess = words('allow', 'deny');
const fileAccess = words('read', 'write', 'deny', 'none');
const permissionProfile = table({
  description: text,
  extends: text,
  filesystem: map(either(fileAccess, map(fileAccess), { kind: 'integer', min: 0 })),
  network: table({
    enabled: flag,
    mode: words('limited', 'full'),
    domains: map(domainAccess),
    unix_sockets: raw,
    allow_local_binding: flag,
    proxy_url: text,
    socks_url: text,
    enable_socks5: flag,
    enable_socks5_udp: flag,
    allow_upstream_proxy: flag,
    dangerously_allow_non_loopback_proxy: flag,
    dangerously_allow_all_unix_sockets: flag,
  }),
  workspace_roots: raw,
});

const model = {
  model: text,
  model_provider: text,
  model_providers: map(provider),
  openai_base_url: text,
  oss_provider: text,
  review_model: text,
  model_reasoning_effort: words(...EFFORTS),
  plan_mode_reasoning_effort: words(...EFFORTS),
  model_reasoning_summary: words('auto', 'concise', 'detailed', 'none'),
  model_supports_reasoning_summaries: flag,
  model_verbosity: words('low', 'medium', 'high'),
  model_context_window: positive,
  model_auto_compact_token_limit: positive,
  model_auto_compact_token_limit_scope: text,
  model_catalog_json: text,
  tool_output_token_limit: positive,
  compact_prompt: text,
  experimental_compact_prompt_file: text,
  model_instructions_file: text,
  experimental_instructions_file: text,
  developer_instructions: text,
  instructions: text,
  personality: text,
  service_tier: text,
} satisfies Record<string, Shape>;

const safety = {
  approval_policy: either(words('untrusted', 'on-failure', 'on-request', 'never'), granular),
  approvals_reviewer: words('user', 'auto_review', 'guardian_subagent'),
  auto_review: table({ policy: text }),
  sandbox_mode: words(...SANDBOX_MODES),
  sandbox_workspace_write: table({
    writable_roots: strings,
    network_access: flag,
    exclude_tmpdir_env_var: flag,
    exclude_slash_tmp: flag,
  }),
  /** Ours: what the sandbox does beyond the family's keys. */
  sandbox: table({
    read_only: strings,
    deny_read: strings,
    git: words('read-only', 'commit'),
    unix_sockets: words('deny', 'private', 'allow'),
    network_allow: strings,
    network_deny: strings,
    linux: table({ landlock_fallback: flag }),
  }),
  default_permissions: text,
  permissions: map(permissionProfile),
  known_safe_commands: flag,
  shell_environment_policy: table({
    inherit: words('all', 'core', 'none'),
    ignore_default_excludes: flag,
    exclude: strings,
    include_only: strings,
    set: textMap,
    experimental_use_profile: flag,
  }),
  allow_login_shell: flag,
  background_terminal_max_timeout: positive,
  projects: map(table({ trust_level: words('trusted', 'untrusted') })),
  project_root_markers: strings,
  hooks: raw,
  rules: raw,
} satisfies Record<string, Shape>;

const working = {
  steer_delivery: words('next_step', 'now'),
  max_steps_per_turn: positive,
  max_tokens_per_turn: positive,
  max_wall_seconds_per_turn: positive,
  project_doc_max_bytes: count,
  project_doc_fallback_filenames: strings,
  web_search: words('disabled', 'cached', 'live', 'indexed'),
  tools: table({
    update_plan: table({ enabled: flag }),
    view_image: either(flag, table({ enabled: flag })),
    web_search: either(flag, raw),
    experimental_request_user_input: raw,
  }),
  mcp_servers: map(raw),
  features: map(raw),
  history: table({ persistence: words('save-all', 'none'), max_bytes: count }),
  durability: words('process', 'power'),
  profile: text,
  profiles: map(raw),
} satisfies Record<string, Shape>;

/** Keys that mean nothing here but belong to files people already have. */
const tolerated = Object.fromEntries(
  `agents analytics apps audio auth_credentials_store_mode background_terminal_timeout bundled_skills
  chatgpt_base_url check_for_update_on_startup cli_auth_credentials_store commit_attribution
  compact_prompt_file debug disable_paste_burst disable_response_storage experimental_thread_store
  experimental_use_unified_exec_tool experimental_use_freeform_apply_patch feedback file_opener
  forced_chatgpt_workspace_id forced_login_method ghost_snapshot hide_agent_reasoning include_apps_instructions
  include_environment_context include_permissions_instructions include_apply_patch_tool js_repl_node_path log_dir
  marketplaces mcp_oauth_callback_port mcp_oauth_callback_url mcp_oauth_credentials_store memories notice notify
  openai_api_key otel plugins preferred_auth_method project_doc realtime show_raw_agent_reasoning skills
  sqlite_home suppress_unstable_features_warning thread_unload tui windows windows_wsl_setup_acknowledged
  zsh_path`
    .split(/\s+/)
    .map((key): [string, Shape] => [key, raw]),
);

export const CONFIG_SHAPE: Shape = table({ ...tolerated, ...model, ...safety, ...working });
