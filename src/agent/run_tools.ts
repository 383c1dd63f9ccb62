/** The one place that every tool call passes: name, arguments, policy, run, bounded result. @module */

import { attempt } from "../attempt.ts";
import { NO_OUTPUT } from "../models/wire_values.ts";
import { isObject } from "../text/json.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { reasonOf } from "../text/reason.ts";
import { InterruptedError, NOT_FINISHED, RefusedError } from "../tools/call_errors.ts";
import { checkArguments, fitsAsItIs } from "../tools/schema.ts";
import type { ToolExecution, TurnEvent } from "../types/event.ts";
import type { ToolCall } from "../types/message.ts";
import type { Policy } from "../types/policy.ts";
import type { Subject, Tool, ToolContext, ToolOutcome } from "../types/tool.ts";
import type { CopilotAgent } from "./agent.ts";
import { meantTool, repairCall } from "../tools/repair/call.ts";
import { repairPath } from "../tools/repair/paths.ts";
import { slipsOf } from "../tools/slips.ts";
import { aborted, within } from "../wire/wait.ts";

interface RunToolsOptions extends Pick<CopilotAgent, "tools" | "policy"> {
  context: ToolContext;
  /** Why calls have no single reading, by their ids. */
  errors?: ReadonlyMap<string, string | undefined>;
  emit: (event: TurnEvent) => void;
}

/** The maximum number of parallel calls: each may hold a file, and a model may request thousands. */
const MAX_PARALLEL_CALLS = 8;

/** The maximum length of a schema that a model reads after a wrong call, in characters. */
const MAX_SCHEMA_CHARS = 3000;

/** The answer to a call that an answer may only show. */
const MAY_BE_SHOWN =
  "The call was not run: it stands in a code block beside text, which may only show it. To make it, call it again, with nothing behind it. To propose it, answer without a call.";
/** The note on a second, equal call in one answer, which is not run again. */
const REPEATED_CALL = "the same call twice in one answer as once";

/** A running call. `args` and its tool are set once it has started. */
interface Running {
  call: ToolCall;
  tool?: Tool | undefined;
  args?: Record<string, unknown>;
  execution: Promise<ToolExecution>;
  isReported: boolean;
}

/** A call after repair, or with an error for the model if it has no single reading. */
interface ReadCall {
  call: ToolCall;
  error?: string;
}

export function readCall(call: ToolCall, tools: readonly Tool[], folder: string): ReadCall {
  const { name, arguments: args, invalid } = call;
  const tool = tools.find((tool) => tool.name === name);
  if (!invalid && tool && fitsAsItIs(tool, args)) return { call };
  const read = repairCall(call, tools, folder);
  if (!read) return { call: { ...call, name: meantTool(name, tools)?.name ?? name } };
  if ("error" in read) return { call, error: read.error };
  const { invalid: _, ...rest } = call;
  return { call: { ...rest, ...read } };
}

/**
 * Runs `calls`. Adjacent calls of read tools run in parallel, 8 at a time; the others run one after the other.
 * Returns the records in the order of the calls, and reports `tool_start` and `tool_done` in that order, pair by pair:
 * of parallel calls, only the first is reported before it runs, and a second, equal call has no `tool_start`. Never
 * throws: after an abort, unfinished calls are recorded as interrupted.
 */
export async function runTools(
  calls: readonly ToolCall[],
  options: RunToolsOptions,
): Promise<ToolExecution[]> {
  const byName = new Map(options.tools.map((tool) => [tool.name, tool]));
  const isRead = (call: ToolCall | undefined) => byName.get(call?.name ?? "")?.access === "read";
  const done: ToolExecution[] = [];
  const running: Running[] = [];
  const reportStart = (one: Running | undefined) => {
    if (one?.args === undefined || one.isReported) return;
    one.isReported = true;
    const { args, tool, call: { name, id } } = one;
    const subject = subjectOf(tool, args);
    const started = { name: tool?.name ?? name, args, id, ...subject && { subject } };
    options.emit({ type: "tool_start", ...started });
  };
  const start = (call: ToolCall) => {
    const context = { ...options.context, callId: call.id };
    const run = new CallRun(call, options.policy, context, (args, tool) => {
      one.args = args;
      one.tool = tool;
      if (one === running[0]) reportStart(one);
    });
    const execution = run.run(byName.get(call.name), options.errors?.get(call.id));
    const one: Running = { call, tool: byName.get(call.name), isReported: false, execution };
    running.push(one);
  };
  /** The place of the first of equal calls. Those of read tools run each time. */
  const places = new Map<string, number>();
  for (let i = 0; i < calls.length;) {
    const { name, arguments: args, invalid } = calls[i]!;
    const key = isRead(calls[i]) || invalid ? `${i}` : JSON.stringify([name, args]);
    const place = places.get(key) ?? i;
    const twin = done[place];
    places.set(key, place);
    if (twin) {
      done.push(copyOf(twin, calls[i++]!));
      options.emit({ type: "tool_done", exec: done.at(-1)! });
      continue;
    }
    start(calls[i++]!);
    while (running.length > 0) {
      const one = running[0]!;
      while (isRead(one.call) && isRead(calls[i]) && running.length < MAX_PARALLEL_CALLS) {
        start(calls[i++]!);
      }
      const ran = await one.execution;
      const subject = subjectOf(one.tool, ran.arguments);
      const exec = { ...ran, ...subject && { subject } };
      one.args ??= exec.arguments;
      reportStart(one);
      options.emit({ type: "tool_done", exec });
      done.push(exec);
      running.shift();
      reportStart(running[0]);
    }
  }
  return done;
}

/** Returns the record of a call that equals one that ran. */
function copyOf(exec: ToolExecution, { id }: ToolCall): ToolExecution {
  const repairs = [...exec.repairs ?? [], REPEATED_CALL];
  const result = repairNote(repairs) + ownResult(exec);
  return { ...exec, toolCallId: id, result, repairs, durationMs: 0 };
}

class CallRun {
  #start = performance.now();
  #hasStarted = false;
  #args: Record<string, unknown>;
  #name: string;
  readonly #repairs: string[];

  /** @param onStart called with the arguments and the tool just before it runs */
  constructor(
    private readonly call: ToolCall,
    private readonly policy: Policy,
    private readonly context: ToolContext,
    private readonly onStart: (args: Record<string, unknown>, tool: Tool) => void,
  ) {
    this.#args = call.arguments;
    this.#name = call.name;
    this.#repairs = [...call.repairs ?? []];
  }

  /** Returns the record of the call; never rejects. @param wrong why it has no single reading */
  async run(tool: Tool | undefined, wrong: string | undefined): Promise<ToolExecution> {
    const { signal } = this.context;
    try {
      signal.throwIfAborted();
      const { invalid, mayBeShown } = this.call;
      if (wrong !== undefined) return this.#record("failed", wrong);
      if (invalid) {
        const text = invalid.text === "" ? "" : ` You gave: ${truncateMiddle(invalid.text, 500)}`;
        return this.#record("failed", `The call was not run: ${invalid.reason}.${text}`);
      }
      if (!tool) return this.#record("failed", `There is no tool "${this.call.name}".`);
      const checked = checkArguments(tool, this.call.arguments);
      if (!checked.ok) return this.#record("failed", checked.error);
      if (mayBeShown && tool.access !== "read") return this.#record("failed", MAY_BE_SHOWN);
      if (!tool.forward) {
        return await this.#decideAndRun(tool, await this.#readValues(tool, checked.args));
      }
      const meant = await untilAborted(tool.forward(checked.args, this.context), signal);
      this.#name = meant.tool.name;
      this.#args = meant.args;
      const fitting = checkArguments(meant.tool, meant.args);
      if (fitting.ok) return await this.#decideAndRun(meant.tool, fitting.args);
      const schema = truncateMiddle(JSON.stringify(meant.tool.parameters), MAX_SCHEMA_CHARS);
      return this.#record("failed", `${fitting.error}\nThe schema of its arguments: ${schema}`);
    } catch (error) {
      return this.#recordError(error);
    }
  }

  /**
   * Returns the arguments, with slips in a path, a command or a text repaired.
   * @throws {SlipError} if one of them has no single reading
   */
  async #readValues(tool: Tool, given: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { workingDir: folder, request } = this.context;
    const args = { ...given };
    const slips = slipsOf(tool);
    const [key, usual] = slips?.path ?? [];
    const path = key && args[key];
    if (key === "path" && typeof path === "string" && path.trim() === "") {
      args.path = ".";
      this.#repairs.push("the empty path as .");
    } else if (key && usual && typeof path === "string") {
      const use = typeof usual === "function" ? usual(args) : usual;
      const meant = await repairPath(path, { folder, use, request, isFile: key === "file_path" });
      if (meant !== undefined) {
        args[key] = meant;
        this.#repairs.push(`the path ${JSON.stringify(path)} as ${meant}`);
      }
    }
    slips?.readTexts?.(args, this.#repairs);
    const changed = Object.entries(args).filter(([key, value]) => value !== given[key]);
    this.#args = { ...this.#args, ...Object.fromEntries(changed) };
    return args;
  }

  async #decideAndRun(tool: Tool, checked: Record<string, unknown>): Promise<ToolExecution> {
    const { signal } = this.context;
    const deciding = Promise.resolve(this.policy.decide(tool, checked, this.context));
    const decision = await untilAborted(deciding, signal);
    if (!decision.allow) {
      const { reason, summary } = decision;
      return {
        ...this.#record("refused", reason),
        ...summary !== undefined && { refusal: summary },
      };
    }
    const { args = checked, grant, right, mayBePrivate, prepared } = decision;
    let preface = "";
    if (decision.args) {
      const given = this.#args;
      const who = decision.isByHook ? "A hook" : "The user";
      preface = `${who} changed the call to ${JSON.stringify(args)}\n`;
      // The record omits defaults, because the model did not give them.
      this.#args = Object.fromEntries(
        Object.entries(args).filter(([key, value]) => key in given || value !== checked[key]),
      );
    }
    this.onStart(this.#args, tool);
    this.#hasStarted = true;
    signal.throwIfAborted();
    this.#start = performance.now(); // without the time that the user took to approve
    const context = {
      ...this.context,
      ...grant && { grant },
      ...right && { right },
      ...mayBePrivate && { mayBePrivate },
    };
    const result = await untilAborted(Promise.resolve(tool.run(args, context, prepared)), signal);
    const { content, images, repairs = [], ...details } = outcomeOf(result);
    this.#repairs.push(...repairs);
    const execution = this.#record("done", preface + content);
    return {
      ...execution,
      ...images && { images },
      ...Object.keys(details).length > 0 && { details },
    };
  }

  #recordError(error: unknown): ToolExecution {
    if (!this.context.signal.aborted) {
      const why = reasonOf(error) || "the tool failed";
      if (!(error instanceof RefusedError)) return this.#record("failed", why);
      return { ...this.#record("refused", `Refused: ${why}`), refusal: why };
    }
    if (!this.#hasStarted) {
      return this.#record("not_run", "Interrupted by the user: the call was not run.");
    }
    if (!(error instanceof InterruptedError)) return this.#record("stopped", NOT_FINISHED);
    return { ...this.#record("stopped", error.message), details: { output: error.output } };
  }

  #record(outcome: ToolExecution["outcome"], result: string): ToolExecution {
    const { maxOutputChars } = this.context;
    const repairs = this.#repairs;
    const text = repairNote(repairs) + (result === "" ? NO_OUTPUT : result);
    return {
      toolCallId: this.call.id,
      toolName: this.#name,
      arguments: this.#args,
      result: truncateMiddle(text, maxOutputChars).toWellFormed(),
      durationMs: Math.round(performance.now() - this.#start),
      isError: outcome !== "done",
      outcome,
      ...repairs.length > 0 && { repairs },
    };
  }
}

/** Returns the start of a call's result that tells the model about repairs. */
const repairNote = (repairs: readonly string[]): string =>
  repairs.length > 0 ? `[Your call was read as: ${repairs.join("; ")}]\n` : "";

/** Returns the result of a call without the text about its repairs. */
export function ownResult({ result, repairs = [] }: ToolExecution): string {
  const note = repairNote(repairs);
  return result.startsWith(note) ? result.slice(note.length) : result;
}

/** Returns the subject of a call; undefined if the tool throws, as `fetch_url` does for a wrong address. */
export function subjectOf(
  tool: Tool | undefined,
  args: Record<string, unknown>,
): Subject | undefined {
  return attempt(() => tool?.subject?.(args));
}

/** Returns the outcome of a tool's result. Tools of other programs may return anything. */
export function outcomeOf(result: unknown): ToolOutcome {
  if (typeof result === "string") return { content: result };
  if (isObject(result) && typeof result.content === "string") {
    return result as unknown as ToolOutcome;
  }
  return { content: JSON.stringify(result) ?? "" };
}

/** The longest wait for an aborted call to clean up, such as to end its processes, in ms. */
const TIDY_UP_MS = 4000;

/** Resolves with `promise`, or rejects some time after the signal: a call that ignores it cannot hold up the turn. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = aborted(signal).then(() => within(TIDY_UP_MS, promise));
  return await Promise.race([
    promise,
    late.then((): never => {
      throw signal.reason;
    }),
  ]);
}
