/**
 * Taking back what a message led to: the conversation, and the files that tools wrote, byte for byte.
 * Kept in memory, without git; what commands did is not known and stays.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { count } from "../text/count.ts";
import { relative } from "../text/std_path.ts";
import { writeAtomically } from "../tools/files/atomic_write.ts";
import { stampOf } from "../tools/files/seen_files.ts";
import type { Message } from "../types/message.ts";
import type { Grant, OnWritten } from "../types/tool.ts";
import { oneLine } from "../text/one_line.ts";

/** What a session can take back. */
export interface UndoLog {
  /** A message is about to be sent. */
  begin(agent: CopilotAgent, text: string): void;
  /** A file was written for it. */
  onWritten: OnWritten;
  /** Another conversation begins: of those before it the files alone are taken back. */
  leave(): void;
  /** Takes back the newest message; what to say of it. */
  undo(agent: CopilotAgent): Promise<string>;
  /** Brings back what was taken back last; what to say of it. */
  redo(agent: CopilotAgent): Promise<string>;
}

/** A message and what it led to; once taken back, how things were then. */
interface Step {
  text: string;
  /** Undefined once another conversation has begun. */
  messages: Message[] | undefined;
  files: Map<string, Kept>;
}

/** A file on both sides of the step: as it is now, and as it was (or, taken back, as it became). */
interface Kept {
  /** Of the other side. `undefined`: there was none. `null`: not kept, as it was too large. */
  bytes: Uint8Array | undefined | null;
  /** Of the other side; {@linkcode ABSENT} where there was no file. */
  otherStamp: string;
  /** Of this side. */
  stamp: string;
}

const ABSENT = "";
const MAX_STEPS = 100;
const MAX_BYTES = 64 * 1024 * 1024;

/** The log of a session that begins. */
export function undoLog(): UndoLog {
  const done: Step[] = [];
  const undone: Step[] = [];
  return {
    begin({ state }, text) {
      undone.length = 0;
      done.push({ text, messages: [...state.messages], files: new Map() });
      while (done.length > MAX_STEPS || done.length > 1 && bytesOf(done) > MAX_BYTES) done.shift();
    },
    onWritten({ path, before, stamp }) {
      const files = done.at(-1)?.files;
      const known = files?.get(path);
      if (known) known.stamp = stamp;
      else {
        const bytes = before === undefined ? undefined : before.bytes ?? null;
        files?.set(path, { bytes, otherStamp: before?.stamp ?? ABSENT, stamp });
      }
    },
    leave() {
      for (const step of [...done, ...undone]) step.messages = undefined;
    },
    async undo(agent) {
      const step = done.pop();
      if (!step) return "There is nothing to take back.";
      const before = new Set(step.messages ?? agent.state.messages);
      const programs = agent.tools.filter(({ access }) => access === "execute");
      const commands =
        agent.state.messages.filter((message) =>
          programs.some(({ name }) => name === message.toolName) && !message.isError &&
          !before.has(message)
        ).length;
      undone.push(step);
      const said = await swap(step, agent, [...done, ...undone], "as it was");
      return [
        `Taken back: ${titleOf(step)}. /redo brings it back.`,
        ...said,
        ...commands > 0 ? [`What ${count(commands, "command")} did stays.`] : [],
      ].join("\n");
    },
    async redo(agent) {
      const step = undone.pop();
      if (!step) return "There is nothing to bring back.";
      done.push(step);
      const said = await swap(step, agent, [...done, ...undone], "as it became");
      return [`Brought back: ${titleOf(step)}.`, ...said].join("\n");
    },
  };
}

/** Changes to the other side of a step; `step` holds this side then. */
async function swap(
  step: Step,
  { state }: CopilotAgent,
  all: readonly Step[],
  how: string,
): Promise<string[]> {
  const said: string[] = [];
  for (const [path, kept] of step.files) {
    const shown = oneLine(relative(state.workingDir, path));
    try {
      const same = all.flatMap(({ files }) => files.get(path) ?? []);
      // A link that came since, in its place or its folder's, leads nowhere.
      const grant = { realPath: path, withheld: { folder: state.workingDir, paths: [] } };
      said.push(`  ${shown}: ${await swapFile(grant, kept, same) ?? how}`);
      state.seenFiles.delete(path);
    } catch (error) {
      said.push(`  ${shown} stays as it is: ${oneLine((error as Error).message)}`);
    }
  }
  if (step.messages) [step.messages, state.messages] = [state.messages, step.messages];
  else said.push("The conversation, which is another by now, stays.");
  return said;
}

async function swapFile(
  grant: Grant,
  kept: Kept,
  all: readonly Kept[],
): Promise<string | undefined> {
  const path = grant.realPath;
  const { bytes, stamp, otherStamp } = kept;
  if (bytes === null) throw new Error("what it held could not be kept");
  if (await stampAt(path) !== stamp) throw new Error("it was changed since");
  const now = stamp === ABSENT ? undefined : await Deno.readFile(path);
  if (bytes === undefined) await Deno.remove(path);
  else await writeAtomically(path, path, bytes, now && { head: now, size: now.length }, { grant });
  Object.assign(kept, { bytes: now, stamp: otherStamp, otherStamp: stamp });
  // What was once so is so again, under another stamp; also for the steps before and after.
  const restored = await stampAt(path);
  for (const side of all) {
    if (side.stamp === otherStamp) side.stamp = restored;
    if (side.otherStamp === otherStamp) side.otherStamp = restored;
  }
  return bytes === undefined ? "removed" : now === undefined ? "there again" : undefined;
}

/** How the file at a path is, unless something else has come in its way. */
async function stampAt(path: string): Promise<string> {
  try {
    return await Deno.realPath(path) === path ? stampOf(await Deno.lstat(path)) : "a link";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return ABSENT;
    throw error;
  }
}

function bytesOf(steps: readonly Step[]): number {
  const sizes = steps.flatMap(({ files }) =>
    [...files.values()].map(({ bytes }) => bytes?.length ?? 0)
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function titleOf({ text }: Step): string {
  const line = oneLine(text);
  return `"${line.length > 60 ? `${line.slice(0, 59).toWellFormed()}…` : line}"`;
}
