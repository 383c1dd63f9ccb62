/**
 * The one place where every tool call passes: name, arguments, policy, run, bounded result.
 *
 * @module
 */

import { truncateMiddle } from "../text/truncate.ts";
import { checkArguments } from "../tools/schema.ts";
import type { ToolExecution, TurnEvent } from "../types/event.ts";
import type { ToolCall } from "../types/message.ts";
import type { Policy } from "../types/policy.ts";
import type { Tool, ToolContext } from "../types/tool.ts";

/** What running the calls of one answer needs. */
export interface RunToolsOptions {
  tools: readonly Tool[];
  policy: Policy;
  context: ToolContext;
  emit: (event: TurnEvent) => void;
}

/** How many calls run at a time: each may hold a file, and a model may ask for thousands. */
const SIDE_BY_SIDE = 8;

/** A call that runs; with `args` once its tool does. */
interface Running {
  call: ToolCall;
  args?: Record<string, unknown>;
  execution: Promise<ToolExecution>;
  isTold: boolean;
}

/**
 * Runs `calls`. Those of read tools that stand together run side by side, 8 at a time, the others one
 * after the other; the records come back in the order asked, one for each call, whatever happens, and
 * `tool_start` / `tool_done` are reported in that order too, pair by pair: of the first call that is
 * not done, before its tool runs. Never throws: after an abort the calls that did not finish are
 * recorded as interrupted.
 */
export async function runTools(
  calls: readonly ToolCall[],
  options: RunToolsOptions,
): Promise<ToolExecution[]> {
  const byName = new Map(options.tools.map((tool) => [tool.name, tool]));
  const isRead = (call: ToolCall | undefined) => byName.get(call?.name ?? "")?.access === "read";
  const done: ToolExecution[] = [];
  const running: Running[] = [];
  const tellStart = (one: Running | undefined) => {
    if (one?.args === undefined || one.isTold) return;
    one.isTold = true;
    const { args, call: { name, id } } = one;
    options.emit({ type: "tool_start", name, args, id });
  };
  const start = (call: ToolCall) => {
    const one: Running = {
      call,
      isTold: false,
      execution: runOne(call, byName, options, (args) => {
        one.args = args;
        if (one === running[0]) tellStart(one);
      }),
    };
    running.push(one);
  };
  for (let i = 0; i < calls.length;) {
    start(calls[i++]!);
    while (running.length > 0) {
      const one = running[0]!;
      while (isRead(one.call) && isRead(calls[i]) && running.length < SIDE_BY_SIDE) {
        start(calls[i++]!);
      }
      const exec = await one.execution;
      one.args ??= exec.arguments;
      tellStart(one);
      options.emit({ type: "tool_done", exec });
      done.push(exec);
      running.shift();
      tellStart(running[0]);
    }
  }
  return done;
}

/** Runs one call; `onStart` is called right before the tool itself is. */
async function runOne(
  call: ToolCall,
  byName: ReadonlyMap<string, Tool>,
  { policy, context }: RunToolsOptions,
  onStart: (args: Record<string, unknown>) => void,
): Promise<ToolExecution> {
  let start = performance.now();
  let hasBegun = false;
  let given = call.arguments;
  const finish = (result: string, isError: boolean): ToolExecution => ({
    toolCallId: call.id,
    toolName: call.name,
    arguments: given,
    result: bounded(result, context.maxOutputChars),
    durationMs: Math.round(performance.now() - start),
    isError,
  });
  try {
    context.signal.throwIfAborted();
    const tool = byName.get(call.name);
    if (!tool) {
      const names = [...byName.keys()].join(", ");
      return finish(`There is no tool "${call.name}". The tools are: ${names}.`, true);
    }
    if (call.invalid) {
      const { reason, text } = call.invalid;
      const given = text === "" ? "" : ` You gave: ${truncateMiddle(text, 500)}`;
      return finish(`The call was not run: ${reason}.${given}`, true);
    }
    const checked = checkArguments(tool, call.arguments);
    if (!checked.ok) return finish(checked.error, true);
    const decision = await untilAborted(
      Promise.resolve(policy.decide(tool, checked.args, context)),
      context.signal,
    );
    if (!decision.allow) {
      const { reason, summary } = decision;
      return { ...finish(reason, true), ...(summary !== undefined && { refusal: summary }) };
    }
    const args = decision.args ?? checked.args;
    if (decision.args) {
      // Without the defaults, which nobody gave.
      given = Object.fromEntries(
        Object.entries(args).filter(([key, value]) => key in given || value !== checked.args[key]),
      );
    }
    onStart(given);
    hasBegun = true;
    context.signal.throwIfAborted();
    start = performance.now(); // what a person took to approve is not the tool's time
    const result: unknown = await untilAborted(
      Promise.resolve(
        tool.run(args, decision.grant ? { ...context, grant: decision.grant } : context),
      ),
      context.signal,
    );
    const text = typeof result === "string" ? result : JSON.stringify(result) ?? "";
    const changed = decision.args ? `The user changed the call to ${JSON.stringify(args)}\n` : "";
    return finish(changed + text, false);
  } catch (error) {
    if (context.signal.aborted) {
      const how = hasBegun ? "did not finish" : "was not run";
      const plain = `Interrupted by the user: the call ${how}.`;
      // A tool may tell how far it came.
      const told = messageOf(error);
      return finish(hasBegun && told.startsWith(plain) ? told : plain, true);
    }
    return finish(messageOf(error), true);
  }
}

/** How long an aborted call may take to tidy up, such as to end its processes, before it is left. */
const TIDY_UP_MS = 4000;

/** `promise`, or the signal's reason a while after it is aborted: what ignores it cannot hold the turn. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abort = () => timer = setTimeout(() => reject(signal.reason), TIDY_UP_MS);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    promise.then(resolve, reject).finally(() => {
      if (timer !== undefined) clearTimeout(timer); // its first use loads 5 ms of code
      signal.removeEventListener("abort", abort);
    });
  });
}

/** What a tool threw, in words; tools of others throw anything. */
function messageOf(error: unknown): string {
  try {
    return String((error as Error | undefined)?.message ?? error) || "the tool failed";
  } catch {
    return "the tool failed, and what it threw cannot be shown";
  }
}

function bounded(result: string, maxChars: number): string {
  if (result === "") return "(no output)";
  return truncateMiddle(result, maxChars).toWellFormed();
}
