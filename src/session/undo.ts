/**
 * Undoes a message, and byte for byte the files that tools wrote for it, from memory. Effects of commands remain.
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { attempt } from "../attempt.ts";
import { runInPlaces } from "../safety/in_place.ts";
import { basename, dirname, relative } from "../text/std_path.ts";
import { reasonOf } from "../text/reason.ts";
import { writeAtomically } from "../tools/files/atomic_write.ts";
import { hasShell } from "../tools/files/in_folder.ts";
import { comparedWhole } from "../tools/files/change.ts";
import { openRegular, readBytes } from "../tools/files/regular_file.ts";
import { MAX_DIGESTED_BYTES, stampOf } from "../tools/files/seen_files.ts";
import type { Message } from "../types/message.ts";
import type { Change, Grant, OnWritten } from "../types/tool.ts";

export interface UndoReport {
  way: "undo" | "redo";
  text: string;
  messages: number;
  files: readonly UndoneFile[];
  /** False if the messages have been replaced; then they remain. */
  hasConversation: boolean;
  /** The number of commands that ran for the messages. Their effects remain. */
  commands: number;
}

export interface UndoneFile {
  path: string;
  /** `restored` has other bytes again; `failed` is unchanged. */
  result: "restored" | "removed" | "recreated" | "failed";
  reason?: string;
}

/** A message, with the messages before it and the files written for it; once undone, their later state. */
interface UndoStep {
  text: string;
  conversation: Pick<CopilotAgent["state"], "messages" | "seenFiles"> | undefined;
  /** The characters of the messages that the previous step does not contain. */
  size: number;
  files: Map<string, FileSides>;
}

/** A file on both sides of a step: its current state, and its earlier one (or, once undone, its later one). */
interface FileSides {
  /** The file on the other side. `undefined`: it did not exist. `null`: unknown because it was too large. */
  bytes: Uint8Array | undefined | null;
  /** The stamp on this side; {@linkcode ABSENT} if there is no file. */
  stamp: string;
}

const ABSENT = "";
const MAX_UNDO_STEPS = 100;
export const MAX_UNDO_BYTES = 64 * 1024 * 1024;

export class UndoLog {
  readonly #done: UndoStep[] = [];
  readonly #undone: UndoStep[] = [];
  readonly startedAt = Date.now();
  /** The files that tools have written, even if that was undone. */
  readonly written = new Set<string>();

  begin({ state: { messages, seenFiles } }: CopilotAgent, text: string): void {
    const conversation = { messages: [...messages], seenFiles: new Map(seenFiles) };
    this.#undone.length = 0;
    const before = new Set(this.#done.at(-1)?.conversation?.messages);
    const size = messages.reduce((sum, one) => before.has(one) ? sum : sum + one.content.length, 0);
    this.#done.push({ text, conversation, size, files: new Map() });
    const isFull = () =>
      this.#done.length > MAX_UNDO_STEPS || bytesOfSteps(this.#done) > MAX_UNDO_BYTES;
    while (isFull()) this.#done.shift();
  }

  readonly onWritten: OnWritten = ({ path, before, stamp }) => {
    this.written.add(path);
    const files = this.#done.at(-1)?.files;
    const known = files?.get(path);
    if (known) known.stamp = stamp;
    else {
      const bytes = before === undefined ? undefined : before.bytes ?? null;
      files?.set(path, { bytes, stamp });
    }
  };

  /** The messages are replaced. Of earlier ones, only the files can be undone. */
  leave(): void {
    for (const steps of [this.#done, this.#undone]) {
      const written = steps.filter(({ files }) => files.size > 0);
      for (const step of written) step.conversation = undefined;
      steps.splice(0, steps.length, ...written);
    }
  }

  /** Another session is resumed. Nothing before it can be undone. */
  forget(): void {
    this.#done.length = this.#undone.length = 0;
  }

  /** Returns the messages that can be undone, newest first, with the number of files written for each. */
  get messages(): readonly { text: string; files: number }[] {
    return this.#done.map(({ text, files }) => ({ text, files: files.size })).reverse();
  }

  /** Returns what the messages that can be undone changed in files: their bytes before, and now. */
  async changes(workingDir: string): Promise<Change[]> {
    const before = new Map<string, FileSides["bytes"]>();
    for (const { files } of this.#done) {
      for (const [path, { bytes }] of files) if (!before.has(path)) before.set(path, bytes);
    }
    const changes: Change[] = [];
    for (const [realPath, was] of before) {
      const grant = { realPath, withheld: { folder: workingDir, paths: [] } };
      const is = await fileNow(grant).then(({ bytes }) => bytes, () => null);
      const none = new Uint8Array();
      const compared = was === null || is === null
        ? undefined
        : comparedWhole(was ?? none, is ?? none);
      if (compared?.lines.length === 0) continue;
      const path = relative(workingDir, realPath);
      changes.push({ path, isNew: was === undefined, morePlaces: 0, ...compared });
    }
    return changes;
  }

  async undo(agent: CopilotAgent, count = 1): Promise<UndoReport | undefined> {
    const files = new Map<string, UndoneFile>();
    let report: UndoReport | undefined;
    for (let messages = 1; messages <= count; messages++) {
      const step = this.#done.pop();
      if (!step) break;
      this.#undone.push(step);
      const all = agent.state.messages;
      const commands = commandsBehind(step.conversation?.messages ?? all, all);
      const one = await this.#exchange(step, agent);
      for (const file of one.files) files.set(file.path, file);
      const sum = { messages, commands: commands + (report?.commands ?? 0) };
      report = { ...one, way: "undo", ...sum, files: [...files.values()] };
    }
    return report;
  }

  async redo(agent: CopilotAgent): Promise<UndoReport | undefined> {
    const step = this.#undone.pop();
    if (!step) return undefined;
    this.#done.push(step);
    return { way: "redo", messages: 1, ...await this.#exchange(step, agent), commands: 0 };
  }

  /** Switches to the other side of a step; `step` then contains this side. */
  async #exchange(step: UndoStep, { state }: CopilotAgent) {
    const { workingDir } = state;
    const exchanged: Exchanged[] = [];
    for (const [path, sides] of step.files) {
      const grant = { realPath: path, withheld: { folder: workingDir, paths: [] } };
      exchanged.push(await exchangeFile(grant, sides).catch((error) => failedFile(path, error)));
    }
    const { conversation, text } = step;
    if (conversation) {
      step.conversation = { messages: state.messages, seenFiles: state.seenFiles };
      Object.assign(state, conversation);
    }
    const files = removeAll(exchanged).map(({ other, ...file }): UndoneFile => {
      if (other) step.files.set(file.path, other);
      if (other) state.seenFiles.delete(file.path); // the model has not seen its content
      return { ...file, path: relative(workingDir, file.path) };
    });
    return { text, files, hasConversation: conversation !== undefined };
  }
}

function commandsBehind(before: readonly Message[], messages: readonly Message[]): number {
  const earlier = new Set(before.map(({ id }) => id));
  return messages.filter(({ id, toolAccess, isError }) =>
    toolAccess === "execute" && !isError && !earlier.has(id)
  ).length;
}

/** Returns the current file. @throws {Error} if its path contains a link. */
async function fileNow(grant: Grant): Promise<FileSides> {
  const path = grant.realPath;
  if (!attempt(() => Deno.lstatSync(path))) return { bytes: undefined, stamp: ABSENT };
  using opened = await openRegular(path, path, "read", grant);
  const { size } = opened.info;
  const bytes = size > MAX_DIGESTED_BYTES ? null : await readBytes(opened.file, size);
  return { bytes, stamp: await stampOf(path, bytes ?? undefined) };
}

/** A file with an absolute path, and the step's sides of it from now on; `other` is missing if it failed. */
type Exchanged = UndoneFile & { other?: FileSides };

const failedFile = (path: string, error: unknown): Exchanged => ({
  path,
  result: "failed",
  reason: reasonOf(error),
});

/** Writes the other side of a file, unless that removes the file. Follows no link that has replaced it or its folder. */
async function exchangeFile(grant: Grant, { bytes, stamp }: FileSides): Promise<Exchanged> {
  const path = grant.realPath;
  if (bytes === null) throw new Error("its old content was too large to store");
  const now = await fileNow(grant).catch(() => undefined);
  if (now?.stamp !== stamp) throw new Error("it has changed since");
  if (bytes === undefined && !hasShell) await Deno.remove(path);
  if (bytes === undefined) return { path, result: "removed", other: { ...now, stamp: ABSENT } };
  const isNew = stamp === ABSENT;
  await writeAtomically(path, path, bytes, isNew ? undefined : { stamp }, { grant });
  const other = { ...now, stamp: await stampOf(path, bytes) };
  return { path, result: isNew ? "recreated" : "restored", other };
}

/** Removes the files that have that result. A shell enters each folder, as a job may replace the folder by a link. */
function removeAll(files: readonly Exchanged[]): Exchanged[] {
  const gone = files.filter(({ result }) => hasShell && result === "removed");
  const folders = [...Map.groupBy(gone, ({ path }) => dirname(path))];
  const places = folders.map(([at, all]) => [at, all.map(({ path }) => basename(path))] as const);
  const faults = runInPlaces('rm -f -- "$@"', places).map(({ fault }) => fault);
  const failed = new Map(folders.flatMap(([, group], i) => group.map((one) => [one, faults[i]])));
  return files.map((one) => failed.get(one) ? failedFile(one.path, failed.get(one)) : one);
}

function bytesOfSteps(steps: readonly UndoStep[]): number {
  const files = steps.flatMap((step) => [...step.files.values()]);
  const size = steps.reduce((sum, step) => sum + step.size, 0);
  return files.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), size);
}
