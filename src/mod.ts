/**
 * The public library of `copilot`: a terminal coding agent built for the models you run yourself.
 *
 * @example A turn with a tool of one's own
 * ```ts ignore
 * import { builtinTools, CopilotAgent, localConfig, processTurn } from "@copilot/copilot";
 *
 * const agent = new CopilotAgent({ local: localConfig({ model: "qwen3:8b" }) }, ".", {
 *   tools: [...builtinTools, {
 *     name: "today",
 *     description: "Today's date",
 *     parameters: { type: "object", properties: {} },
 *     access: "read",
 *     run: () => new Date().toDateString(),
 *   }],
 * });
 * for (const question of ["What does this project do?", "What is the date?"]) {
 *   const { response } = await processTurn(agent, question, {
 *     onEvent: (event) => event.type === "tool_start" && console.log(event.name, event.args),
 *   });
 *   console.log(response);
 * }
 * ```
 *
 * @module
 */

export * from "./types/event.ts";
export type { ImageLimits, ImagePart } from "./types/image.ts";
export * from "./types/message.ts";
export * from "./types/policy.ts";
export * from "./types/confine.ts";
export * from "./types/tool.ts";
export {
  type AgentSettings,
  type CompatConfig,
  compatConfig,
  type ConnectionSettings,
  type CopilotConfig,
  type HostedConfig,
  hostedConfig,
  type LocalConfig,
  localConfig,
  type Optional,
  type PromptTier,
  type Sampling,
  type Thinking,
} from "./config.ts";
export * from "./errors.ts";
export { type AgentOptions, type AgentState, CopilotAgent } from "./agent/agent.ts";
export { processTurn, type TurnOptions } from "./agent/turn.ts";
export { compact, type CompactOptions } from "./agent/compact.ts";
export { parseLocalResponse } from "./agent/parse_local_response.ts";
export { copilot } from "./cli/copilot.ts";
export type { CopilotOptions } from "./cli/settings.ts";
export * from "./ui/plugged_session.ts";
export * from "./extensions/mcp/mcp_tools.ts";
export { builtinTools } from "./tools/mod.ts";
export { fetchTool } from "./extensions/web/web_extension.ts";
export { jobStore } from "./tools/shell/jobs.ts";
export type * from "./models/backend.ts";
export type { Fields } from "./models/fields.ts";
export { callCompat } from "./models/openai/mod.ts";
export { messagesToCompatFormat, toolsToCompatFormat } from "./models/openai/request.ts";
export { parseCompatResponse } from "./models/openai/response.ts";
export { callLocal } from "./models/ollama/mod.ts";
export { messagesToLocalFormat } from "./models/ollama/request.ts";
export {
  checkLocalConnection,
  listLocalModels,
  type LocalServerOptions,
} from "./models/ollama/connection.ts";
export { callHosted } from "./models/anthropic/mod.ts";
export {
  type HostedBlock,
  type HostedMessage,
  messagesToHostedFormat,
  toolsToHostedFormat,
} from "./models/anthropic/request.ts";
export { parseHostedResponse } from "./models/anthropic/response.ts";
export type { Completer, Completion, CompletionItem } from "./ui/terminal/line/completion.ts";
export { readInput, readLineRaw, type ReadOptions } from "./ui/terminal/line/input.ts";
export { stripThinkTags } from "./text/think.ts";
export { type RepetitionOptions, truncateRepetition } from "./text/repetition.ts";
export { globToRegex } from "./text/glob.ts";
export { resolvePath } from "./text/paths.ts";
export { extractToolCallsFromText } from "./models/toolcalls/extract.ts";
export type { ToolCallOptions } from "./models/toolcalls/scan.ts";
