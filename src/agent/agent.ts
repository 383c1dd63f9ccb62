import type { Backend } from "../models/backend.ts";
import { type AgentSettings, type CopilotConfig, copilotConfig } from "../config.ts";
import { IMAGE_LIMITS, seesByName, targetOf, withModel } from "../models/target.ts";
import { builtinTools, withJobs } from "../tools/mod.ts";
import { tasksTool } from "../tools/tasks.ts";
import type { ToolExecution } from "../types/event.ts";
import type { Message } from "../types/message.ts";
import type { Policy } from "../types/policy.ts";
import type { Tool, ToolContext } from "../types/tool.ts";
import { withoutImages } from "../text/parts.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { reasonOf } from "../text/reason.ts";
import { AgentMemory } from "./memory.ts";
import {
  folderLine,
  isLean,
  leanPrompt,
  roomInPrompt,
  systemPrompt,
  toolsThatFit,
} from "./prompt.ts";
import { localBackend } from "../models/ollama/mod.ts";
import { hostedBackend } from "../models/anthropic/mod.ts";
import { compatBackend } from "../models/openai/mod.ts";

/** The state of an agent: everything that changes while it works. */
export interface AgentState {
  /** The absolute folder that tools work in. */
  workingDir: string;
  /** The conversation so far, without the system prompt. */
  messages: Message[];
  /** Text after the system prompt. Its middle is cut if it is long for the model's window. */
  instructions: string;
  /** The lines that the user typed, oldest first: the line editor's history. */
  history: string[];
  /** The stamps of files as the model last saw them; see `ToolContext`. */
  seenFiles: Map<string, string>;
  /** Prompt tokens of the session, as the server counted them. */
  inputTokens: number;
  /** Answer tokens of the session, as the server counted them. */
  outputTokens: number;
}

/**
 * Options of {@linkcode CopilotAgent}. `jobs` stores background commands, which the model may then start: a
 * `jobStore`, which the caller disposes of. Without it, everything that a command started ends with the command.
 * Commands never get the keys of backends, even if `env` names them.
 */
export interface AgentOptions
  extends Pick<ToolContext, "confine" | "onWritten" | "jobs" | "env" | "editor"> {
  /** The tools to offer, in order; by default {@linkcode builtinTools}. */
  tools?: readonly Tool[];
  /** Decides each tool call. Without it, every call runs (spec 4.2). */
  policy?: Policy;
  /** True offers a list of steps to models that have room for it; by default false. */
  keepsTasks?: boolean;
  /** Replaces the system prompt. */
  systemPrompt?: string | undefined;
  /** Text behind the system prompt and its instructions. */
  appendedPrompt?: string | undefined;
  /**
   * Called with each call that was done, and then with each that failed, once all calls of an answer have ended. Its
   * result is appended to the call's result for the model.
   */
  afterCall?: (execution: ToolExecution, signal: AbortSignal) => Promise<string | undefined>;
  /** Called before the conversation is shortened; `focus` is what {@linkcode compact} was given. */
  beforeCompact?: (trigger: "manual" | "auto", focus: string, signal: AbortSignal) => Promise<void>;
}

/** The tools and prompts that an agent sends with its requests. All forks of an agent share one object. */
interface AgentOffer extends Pick<AgentOptions, "systemPrompt" | "appendedPrompt"> {
  /** The tools of the options, and those for jobs. */
  plain: readonly Tool[];
  /** The same, and the list of steps. */
  own: readonly Tool[];
  /** The tools that `extend` added. */
  extended: readonly (Tool & { isForSmall?: boolean })[];
  /** The tools of other programs. */
  external: readonly Tool[];
  /** Returns the list of skills for a context length and a maximum of bytes, and the minimum of bytes. */
  catalogue?: ((contextLength: number, maxBytes: number) => string) | undefined;
  listBytes?: number | undefined;
}

/** Returns what an agent has learned about its servers: not for callers of the library. */
export let memoryOf: (agent: CopilotAgent) => AgentMemory;

/** Returns the messages of a request: by default, those of the conversation behind its system prompt. */
export function requestMessages(agent: CopilotAgent, messages?: readonly Message[]): Message[] {
  const system: Message = { role: "system", content: agent.systemPrompt };
  return (messages ?? [system, ...agent.state.messages])
    .map((message) => agent.seesImages === false ? withoutImages(message) : message);
}

/** Characters of instructions per token of context: about an eighth of the window. */
const INSTRUCTIONS_SHARE = 0.5;

/**
 * The coding agent: a configured backend, tools, a working directory and the conversation so far
 * (spec 2.3). {@linkcode processTurn} makes it work.
 *
 * @example
 * ```ts
 * import { CopilotAgent, localConfig } from "@copilot/copilot";
 *
 * const agent = new CopilotAgent({ local: localConfig({ model: "qwen3:8b" }) }, Deno.cwd());
 * console.log(agent.tools.map((tool) => tool.name));
 * ```
 */
export class CopilotAgent {
  /** The complete settings. */
  get config(): CopilotConfig & Required<AgentSettings> {
    return this.#config;
  }
  /** See {@linkcode AgentState}. */
  readonly state: AgentState;
  /** Decides each tool call. */
  readonly policy: Policy;
  /** See {@linkcode AgentOptions}. */
  readonly afterCall: AgentOptions["afterCall"];
  /** See {@linkcode AgentOptions}. */
  readonly beforeCompact: AgentOptions["beforeCompact"];
  /** The background commands. */
  readonly jobs: AgentOptions["jobs"];
  /** False if the model cannot see: it gets a line in place of each image. Undefined if unknown. */
  seesImages: boolean | undefined;
  /** The slot of llama.cpp's server to use; if undefined, the server chooses. */
  slot: number | undefined;
  readonly #memory = new AgentMemory();
  static {
    memoryOf = (agent) => agent.#memory;
  }
  #config: CopilotConfig & Required<AgentSettings>;
  /** The part of each tool's context that comes from the options. */
  #given: Pick<ToolContext, "confine" | "onWritten" | "jobs" | "env" | "editor" | "subAgent">;
  #offer: AgentOffer;
  /** The tools as models see them, for a lean prompt and for a full one. */
  #offered: Partial<Record<"lean" | "full", readonly Tool[]>> = {};
  #skills: { tools: readonly Tool[]; contextLength: number; text: string } | undefined;
  #backend: Backend | undefined;
  /** Gives recorded answers in place of the server. */
  recorded: Backend | undefined;

  /**
   * Creates an agent that works in the folder `workingDir`.
   *
   * @throws {TypeError} if a setting has the wrong type, two tools share a name, or `workingDir` is not a folder.
   * @throws {RangeError} if a setting is out of range.
   */
  constructor(config: CopilotConfig, workingDir: string, options: AgentOptions = {}) {
    this.#config = copilotConfig(config);
    this.seesImages = seesByName(targetOf(this.#config));
    this.state = {
      workingDir: existingFolder(workingDir),
      messages: [],
      instructions: "",
      history: [],
      seenFiles: new Map(),
      inputTokens: 0,
      outputTokens: 0,
    };
    const { confine, onWritten, jobs, env = [], editor } = options;
    this.#given = {
      env,
      ...confine && { confine },
      ...onWritten && { onWritten },
      ...jobs && { jobs },
      ...editor && { editor },
    };
    this.jobs = jobs;
    this.afterCall = options.afterCall;
    this.beforeCompact = options.beforeCompact;
    const { tools: plain = builtinTools, systemPrompt, appendedPrompt } = options;
    const tools = jobs ? withJobs(plain) : plain;
    const own = options.keepsTasks ? [...tools, tasksTool] : tools;
    this.#offer = { systemPrompt, appendedPrompt, plain, own, extended: [], external: [] };
    this.policy = options.policy ?? { decide: () => ({ allow: true }) };
    checkToolNames(this.tools);
  }

  /** The first message of every request. Its bytes stay the same as long as the working directory does. */
  get systemPrompt(): string {
    const { workingDir } = this.state;
    const { systemPrompt: own, appendedPrompt } = this.#offer;
    const { contextLength = Infinity } = targetOf(this.#config);
    const instructions = [this.state.instructions, appendedPrompt].filter(Boolean).join("\n");
    const rules = instructions === ""
      ? ""
      : `\n${truncateMiddle(instructions, contextLength * INSTRUCTIONS_SHARE)}`;
    if (own !== undefined) return own + rules;
    const prompt = isLean(this.#config) ? leanPrompt() : systemPrompt();
    const isOpen = rules !== "" && !rules.endsWith("\n");
    const skills = this.#skillList(prompt, contextLength);
    return `${prompt}${rules}${isOpen ? "\n" : ""}${skills}${folderLine(workingDir)}`;
  }

  /** Returns the list of skills, which is created once per model and tools. */
  #skillList(prompt: string, contextLength: number): string {
    const { catalogue } = this.#offer;
    if (catalogue === undefined) return "";
    const tools = this.offered;
    if (this.#skills?.tools !== tools || this.#skills.contextLength !== contextLength) {
      const room = roomInPrompt(prompt, tools, isLean(this.#config));
      this.#skills = { tools, contextLength, text: catalogue(contextLength, room) };
    }
    return this.#skills.text;
  }

  /** The tools that the model may call: its own, then those of other programs. */
  get tools(): readonly Tool[] {
    const { own, extended, external } = this.#offer;
    const more = [...extended, ...external];
    return more.length === 0 ? own : [...own, ...more];
  }

  /** The tools as the model sees them. */
  get offered(): readonly Tool[] {
    const { plain, own, extended, external, listBytes } = this.#offer;
    if (!isLean(this.#config)) {
      const full = { builtIn: own, extended, external, listBytes };
      return this.#offered.full ??= toolsThatFit(full, false);
    }
    const forSmall = extended.filter(({ isForSmall }) => isForSmall);
    const lean = { builtIn: plain, extended: forSmall, external, listBytes };
    return this.#offered.lean ??= toolsThatFit(lean, true);
  }

  /**
   * Offers one more tool of its own, before the first request and if there is room. Small models get it only if
   * it is for them. To make room, the bounds of all parameters are left out.
   *
   * @throws {TypeError} if two tools share a name.
   */
  extend(tool: Tool & { isForSmall?: boolean }): void {
    checkToolNames([...this.tools, tool]);
    this.#change({ extended: [...this.#offer.extended, tool] });
  }

  /**
   * Returns an agent with its own conversation, for the sub-agent of that name. `policy` decides its calls. It
   * has the same settings, prompt and tools, so that its requests share their prefix. It cannot run commands in
   * the background. With `copy`, it works in a copy of the folder.
   *
   * @throws {TypeError} if the folder no longer exists.
   */
  fork(
    { policy, afterCall, subAgent, copy }: {
      policy: Policy;
      afterCall?: AgentOptions["afterCall"];
      subAgent: string;
      copy?: Pick<ToolContext, "workingDir" | "confine" | "env" | "isIsolated">;
    },
  ): CopilotAgent {
    const options = { policy, ...afterCall && { afterCall } };
    const fork = new CopilotAgent(this.#config, (copy ?? this.state).workingDir, options);
    const { jobs: _, ...given } = { jobs: undefined, ...copy ?? this.#given };
    fork.#given = { ...given, subAgent };
    fork.#config = this.#config;
    fork.#backend = this.#backend;
    fork.#offer = this.#offer;
    fork.state.instructions = this.state.instructions;
    fork.seesImages = this.seesImages;
    return fork;
  }

  /**
   * Offers tools of other programs, before the first request, because later requests share its prefix. To make
   * room, its own tools are then described in fewer words.
   *
   * @throws {TypeError} if two tools share a name.
   */
  plug(tools: readonly Tool[]): void {
    checkToolNames([...this.#offer.own, ...this.#offer.extended, ...tools]);
    this.#change({ external: tools });
  }

  /**
   * Lists skills in the prompt: `catalogue` returns a list for a context length and a maximum of bytes as JSON
   * text; undefined for no text. To make room for at least `minBytes`, tools are then described in fewer words.
   */
  plugCatalogue(
    catalogue: ((contextLength: number, maxBytes: number) => string) | undefined,
    minBytes = 150,
  ): void {
    this.#change({ catalogue, listBytes: catalogue && minBytes });
  }

  #change(offer: Partial<AgentOffer>): void {
    this.#offer = { ...this.#offer, ...offer };
    this.#offered = {};
    this.#skills = undefined;
  }

  /** Returns the context of a tool call. */
  toolContext(signal: AbortSignal): ToolContext {
    const { workingDir, seenFiles } = this.state;
    const { maxOutputChars } = this.#config;
    const imageLimits = this.seesImages && IMAGE_LIMITS[targetOf(this.#config).kind];
    const limits = { maxOutputChars, ...imageLimits && { imageLimits } };
    return { ...this.#given, workingDir, ...limits, seenFiles, signal };
  }

  /** The backend of the current settings. */
  get backend(): Backend {
    return this.recorded ?? (this.#backend ??= newBackend(this.#config));
  }

  /** Switches to another model of the same backend. @throws {RangeError} if the name is empty. */
  setModel(model: string): void {
    this.configure(withModel(this.#config, { model }));
  }

  /** Switches to other settings, possibly of another backend. Invalid ones throw and change nothing. */
  configure(config: CopilotConfig): void {
    const before = targetOf(this.#config);
    this.#config = copilotConfig(config);
    const now = targetOf(this.#config);
    this.#backend = undefined;
    if (now.url !== before.url || now.name !== before.name) this.seesImages = seesByName(now);
  }
}

function newBackend({ local, hosted, compat }: CopilotConfig): Backend {
  if (local) return localBackend(local);
  if (hosted) return hostedBackend(hosted);
  return compatBackend(compat!);
}

/** Returns the absolute path of the folder `path`, with links resolved. */
function existingFolder(path: string): string {
  let wrong = "is not a folder";
  try {
    const absolute = Deno.realPathSync(path === "" ? "." : path);
    // `/.` fails for a folder that this user may not enter, where no file could be read.
    if (Deno.statSync(`${absolute}/.`).isDirectory) return absolute;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) wrong = "does not exist";
    else if (!(error instanceof Deno.errors.NotADirectory)) {
      wrong = `cannot be used (${reasonOf(error)})`;
    }
  }
  throw new TypeError(`Cannot work in "${path}" as it ${wrong}: name an existing folder`);
}

function checkToolNames(tools: readonly Tool[]): void {
  for (const [i, { name }] of tools.entries()) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      const rule = "its name must be 1 to 64 of a-z A-Z 0-9 _ -";
      throw new TypeError(
        `Cannot offer a tool as ${rule}: current value is ${JSON.stringify(name)}`,
      );
    }
    if (tools.slice(0, i).some((tool) => tool.name === name)) {
      throw new TypeError(`Cannot offer two tools as their names must differ: both are "${name}"`);
    }
  }
}
