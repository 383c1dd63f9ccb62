/**
 * Undoes a message, and byte for byte the files that tools and commands wrote in the folder for it, from memory.
 * @module
 */

import { digestOf } from "../text/digest.ts";
import { equalBytes } from "../text/utf8.ts";
import type { CopilotAgent } from "../agent/agent.ts";
import { attempt } from "../attempt.ts";
import { runInPlaces } from "../safety/in_place.ts";
import { partOfRepository } from "../safety/path_verdict.ts";
import { isWithin } from "../text/paths.ts";
import { basename, dirname, relative } from "../text/std_path.ts";
import { reasonOf } from "../text/reason.ts";
import { writeAtomically } from "../tools/files/atomic_write.ts";
import { hasShell } from "../tools/files/in_folder.ts";
import { comparedWhole } from "../tools/files/change.ts";
import { swappers } from "../safety/folder_looks.ts";
import { expectSwaps } from "../safety/sandbox/writers.ts";
import { grantIn, openRegular, pathOfOpen, readBytes } from "../tools/files/regular_file.ts";
import { MAX_DIGESTED_BYTES, stampOf, stampOfInfo, TOO_LARGE } from "../tools/files/seen_files.ts";
import type { Confine } from "../types/confine.ts";
import type { Message } from "../types/message.ts";
import type { Change, Grant, OnWritten } from "../types/tool.ts";
import { stateFolder } from "../user_files.ts";
import type { FileContent, FolderChange, FolderSnapshot, KnownContent } from "./snapshot.ts";

export interface UndoReport {
  way: "undo" | "redo";
  text: string;
  messages: number;
  files: readonly UndoneFile[];
  /** The number of files that are as they were, as the user stopped it. */
  left: number;
  /** False if /clear or /fork replaced the conversation: only files are undone. */
  hasConversation: boolean;
  commands: number;
  /** True if `files` has those that commands changed in the folder. Their other effects remain. */
  isFollowed: boolean;
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
  files: Map<string, FileSides>;
  /** The folders that were created for files of the tools. Undone, those that are empty are removed. */
  folders: Set<string>;
  isFollowed: boolean;
}

/** A file on both sides of a step: its current state, and its earlier one (or, once undone, its later one). */
interface FileSides {
  bytes: FileContent;
  /** The stamp on this side, of its content or of its state on disk; {@linkcode ABSENT} if there is no file. */
  stamp: string;
  /** The mode before the step (once undone, after it), if a command may have changed it. */
  mode?: number | null | undefined;
  /** True if it could not be exchanged. The opposite step then leaves it unchanged. */
  isStuck?: boolean;
}

const ABSENT = "";
const MAX_UNDO_STEPS = 100;
export const MAX_UNDO_BYTES = 64 * 1024 * 1024;
/** The maximum number of files to exchange at once: each waits for programs and for the disk. */
const MAX_AT_ONCE = 32;
/** The maximum bytes of the files of one step, which the opposite step needs. */
const MAX_EXCHANGED_BYTES = 256 * 1024 * 1024;

export class UndoLog {
  readonly #done: UndoStep[] = [];
  readonly #undone: UndoStep[] = [];
  #seen: FolderSnapshot | undefined;
  /** The number of commands that run, without jobs, and the files that their step had before them. */
  #running = 0;
  #earlier = new Set<string>();
  /** Resolves when the changes of all commands that ended are known. */
  settled: Promise<void> = Promise.resolve();

  begin({ state: { messages, seenFiles } }: CopilotAgent, text: string): void {
    const conversation = { messages: [...messages], seenFiles: new Map(seenFiles) };
    this.#undone.length = 0;
    this.#done.push({
      text,
      conversation,
      files: new Map(),
      folders: new Set(),
      isFollowed: false,
    });
    const isFull = () =>
      this.#done.length > MAX_UNDO_STEPS || bytesOfSteps(this.#done) > MAX_UNDO_BYTES;
    while (isFull()) this.#done.shift();
  }

  readonly onWritten: OnWritten = ({ path, before, stamp, newFolders = 0 }) => {
    const { files, folders } = this.#done.at(-1) ?? {};
    for (let at = dirname(path), left = newFolders; left > 0; at = dirname(at), left--) {
      folders?.add(at);
    }
    const sides = files?.get(path);
    if (sides) sides.stamp = stamp;
    else {
      const bytes = before === undefined ? undefined : before.bytes ?? TOO_LARGE;
      files?.set(path, { bytes, stamp });
    }
  };

  /** Looks at the folder while the model works, so that its first command does not wait for that. */
  async lookAhead(folder: string): Promise<void> {
    const step = this.#done.at(-1);
    if (step && !step.isFollowed) await this.#look(step, folder, this.#running > 0);
  }

  /** Returns `confine` that also records what programs change in the folder, except jobs, during which users work. */
  following(confine: Confine, folder: () => string): Confine {
    return async (...given) => {
      const step = this.#done.at(-1);
      if (given[3]?.isJob || step === undefined) return await confine(...given);
      if (this.#running === 0) this.#earlier = new Set(step.files.keys());
      await this.#look(step, folder(), this.#running > 0);
      const confined = await confine(...given);
      this.#running++;
      const finish: typeof confined.finish = (...end) => {
        this.#running--;
        this.#look(step, folder(), true);
        return confined.finish?.(...end);
      };
      return { ...confined, finish };
    };
  }

  /** Looks at the folder, after earlier looks. A step gets what a command changed since the last one. */
  #look(step: UndoStep, folder: string, isByCommand: boolean): Promise<void> {
    const earlier = this.#earlier;
    step.isFollowed = true;
    return this.settled = this.settled.then(async () => {
      const { changesSince, snapshotOf } = await import("./snapshot.ts");
      const last = this.#seen;
      const now = this.#seen = await snapshotOf(folder, last);
      step.isFollowed = now.files !== undefined;
      const changes = last && isByCommand ? changesSince(last, now) : [];
      await someAtOnce(changes, async (change) => {
        const now = await knownContent(change.now);
        // Another step may write that content again, with another state on disk.
        const stamp = now instanceof Uint8Array ? await digestOf(now) : change.stamp;
        addChange(step, { ...change, stamp }, earlier);
      });
    }).catch(() => {
      step.isFollowed = false;
    });
  }

  /** Call this when the messages are replaced: of earlier ones, only the files can be undone. */
  leave(): void {
    for (const steps of [this.#done, this.#undone]) {
      const written = steps.filter(({ files }) => files.size > 0);
      for (const step of written) step.conversation = undefined;
      steps.splice(0, steps.length, ...written);
    }
  }

  /** Call this when another session is resumed: nothing before it can be undone. */
  forget(): void {
    this.#done.length = this.#undone.length = 0;
  }

  /** Returns the messages that can be undone, newest first, with the number of files written for each. */
  get messages(): readonly { text: string; files: number }[] {
    return this.#done.map(({ text, files }) => ({ text, files: files.size })).reverse();
  }

  /** False if changes by commands are not known. */
  get isFollowed(): boolean {
    return this.#done.every(({ isFollowed }) => isFollowed);
  }

  /** Returns what the messages that can be undone changed in files: their bytes before, and now. */
  async changes(workingDir: string): Promise<Change[]> {
    await this.settled;
    const before = new Map<string, FileContent>();
    for (const { files } of this.#done) {
      for (const [path, { bytes }] of files) if (!before.has(path)) before.set(path, bytes);
    }
    const changes = await someAtOnce([...before], async ([realPath, content]) => {
      const was = await knownContent(content);
      const is = await fileNow(grantIn(workingDir, realPath)).then(({ bytes }) => bytes, reasonOf);
      const none = new Uint8Array();
      const isKnown = typeof was !== "string" && typeof is !== "string";
      const compared = isKnown ? comparedWhole(was ?? none, is ?? none) : undefined;
      const path = relative(workingDir, realPath);
      return { path, isNew: was === undefined, morePlaces: 0, ...compared };
    });
    return changes.filter(({ lines }) => lines?.length !== 0);
  }

  /** Undoes messages until `signal` is aborted; of the files of the last one, some may be left. */
  async undo(
    agent: CopilotAgent,
    count = 1,
    signal?: AbortSignal,
  ): Promise<UndoReport | undefined> {
    await this.settled;
    const files = new Map<string, UndoneFile>();
    let report: UndoReport | undefined;
    for (let messages = 1; messages <= count && !report?.left; messages++) {
      const step = this.#done.pop();
      if (!step) break;
      this.#undone.push(step);
      const all = agent.state.messages;
      const commands = commandsBehind(step.conversation?.messages ?? all, all);
      const one = await this.#exchange(step, agent, signal);
      for (const file of one.files) files.set(file.path, file);
      const isFollowed = step.isFollowed && report?.isFollowed !== false;
      const sum = { messages, commands: commands + (report?.commands ?? 0), isFollowed };
      report = { ...one, way: "undo", ...sum, files: [...files.values()] };
    }
    return report;
  }

  async redo(agent: CopilotAgent, signal?: AbortSignal): Promise<UndoReport | undefined> {
    const step = this.#undone.pop();
    if (!step) return undefined;
    this.#done.push(step);
    const more = { commands: 0, isFollowed: step.isFollowed };
    return { way: "redo", messages: 1, ...await this.#exchange(step, agent, signal), ...more };
  }

  /** Switches to the other side of a step; `step` then contains this side. */
  async #exchange(step: UndoStep, { state }: CopilotAgent, signal: AbortSignal | undefined) {
    const { workingDir } = state;
    const files = [...step.files].filter(([, { isStuck }]) => !isStuck);
    // A file that is exchanged gets new sides below.
    for (const sides of step.files.values()) sides.isStuck = !sides.isStuck;
    // A command may have replaced a folder by a file, which goes before those of the folder are back.
    const folders = new Set<string>();
    for (const [path] of files) {
      for (let at = dirname(path); !folders.has(at); at = dirname(at)) folders.add(at);
    }
    const all = Map.groupBy(files, ([path]) => folders.has(path));
    const first = removeAll(await exchangeAll(all.get(true), workingDir, signal));
    const exchanged = await exchangeAll(all.get(false), workingDir, signal);
    const lost = exchanged.filter(({ result }) => result === "failed")
      .map(({ path }) => step.files.get(path)!.bytes);
    // A command may have moved a file: of one that could not be restored, this is the only copy.
    const isOnly = ({ other }: Exchanged) => {
      const its = other?.bytes;
      return its instanceof Uint8Array &&
        lost.some((one) => one instanceof Uint8Array && equalBytes(one, its));
    };
    const safe = exchanged.map((one) =>
      one.result === "removed" && isOnly(one) ? failedFile(one.path, ONLY_COPY) : one
    );
    const { conversation, text } = step;
    if (conversation) {
      step.conversation = { messages: state.messages, seenFiles: state.seenFiles };
      Object.assign(state, conversation);
    }
    const done = [...first, ...removeAll(safe)].map(({ other, ...file }): UndoneFile => {
      if (other) step.files.set(file.path, other);
      if (other) state.seenFiles.delete(file.path); // the model has not seen its content
      return { ...file, path: relative(workingDir, file.path) };
    });
    if (done.some(({ result }) => result === "removed")) removeEmpty(step.folders, workingDir);
    const left = files.length - done.length;
    return { text, files: done, left, hasConversation: conversation !== undefined };
  }
}

export const knownContent = async (content: FileContent): Promise<KnownContent> =>
  typeof content === "function" ? await content() : content;

function commandsBehind(before: readonly Message[], messages: readonly Message[]): number {
  const earlier = new Set(before.map(({ id }) => id));
  return messages.filter(({ id, toolAccess, isError }) =>
    toolAccess === "execute" && !isError && !earlier.has(id)
  ).length;
}

/** Returns the current file, and its stamps. @throws {Error} with the reason if it is no file, or behind a link. */
async function fileNow(grant: Grant) {
  const path = grant.realPath;
  const there = attempt(() => Deno.lstatSync(path));
  if (!there) return { bytes: undefined, stamps: [ABSENT] };
  if (!there.isFile) throw new Error("it is no regular file now");
  using opened = await openRegular(path, path, "read", grant).catch(() => {
    throw new Error("it cannot be read now");
  });
  const { info, file } = opened;
  const bytes = info.size > MAX_DIGESTED_BYTES ? undefined : await readBytes(file, info.size);
  const stamps = [stampOfInfo(info), await stampOf(path, bytes)];
  return { bytes: bytes ?? TOO_LARGE, stamps, mode: info.mode };
}

const ONLY_COPY = "it has the content of a file that could not be restored";

/** A file with an absolute path, and the step's sides of it from now on; `other` is missing if it failed. */
type Exchanged = UndoneFile & { other?: FileSides };

const failedFile = (path: string, error: unknown): Exchanged => ({
  path,
  result: "failed",
  reason: reasonOf(error),
});

async function someAtOnce<T, R>(
  all: readonly T[],
  make: (one: T) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  const made: R[] = [];
  for (let at = 0; at < all.length && !signal?.aborted; at += MAX_AT_ONCE) {
    made.push(...await Promise.all(all.slice(at, at + MAX_AT_ONCE).map(make)));
  }
  return made;
}

/** Exchanges files of a folder until `signal` is aborted. */
async function exchangeAll(
  files: readonly [string, FileSides][] = [],
  folder: string,
  signal: AbortSignal | undefined,
): Promise<Exchanged[]> {
  let room = MAX_EXCHANGED_BYTES;
  await expectSwaps(stateFolder());
  return await someAtOnce(files, async ([path, sides]) => {
    try {
      const size = attempt(() => Deno.lstatSync(path).size) ?? 0;
      room -= size > MAX_DIGESTED_BYTES ? 0 : size;
      if (room < 0) throw new Error("it is too large to store");
      // A plain file may be a setting of git by now.
      const part = sides.bytes !== undefined && partOfRepository(folder, path);
      if (part) throw new Error(`it is ${part}`);
      return await exchangeFile(grantIn(folder, path), sides);
    } catch (error) {
      return failedFile(path, error);
    }
  }, signal);
}

/** Writes the other side of a file, unless that removes the file. Follows no link that has replaced it or its folder. */
async function exchangeFile(grant: Grant, sides: FileSides): Promise<Exchanged> {
  const [path, bytes] = [grant.realPath, await knownContent(sides.bytes)];
  const { stamp, mode } = sides;
  if (typeof bytes === "string") throw new Error(bytes);
  const { stamps, ...now } = await fileNow(grant);
  if (!stamps.includes(stamp)) throw new Error("it has changed since");
  if (typeof now.bytes === "string") throw new Error("it is too large to store");
  if (bytes === undefined && !hasShell) await Deno.remove(path);
  if (bytes === undefined) return { path, result: "removed", other: { ...now, stamp: ABSENT } };
  const isNew = stamp === ABSENT;
  // A command may have made it read-only.
  if (mode && !isNew) await setMode(grant, mode | 0o200);
  const isHeld = swappers.now.size > 0 && { isHeld: true as const };
  await writeAtomically(path, path, bytes, isNew ? undefined : { stamp: stamps.at(-1)! }, {
    grant: { ...grant, ...isHeld },
  });
  if (mode) await setMode(grant, mode);
  const other = { ...now, stamp: await stampOf(path, bytes) };
  return { path, result: isNew ? "recreated" : "restored", other };
}

/** Writes or removes a file that is as `sides` says. @throws {Error} if that fails. */
export async function exchangeOne(grant: Grant, sides: FileSides): Promise<void> {
  const [{ other, reason } = {}] = removeAll([await exchangeFile(grant, sides)]);
  if (other === undefined) throw new Error(reason);
}

/** Sets the mode of a file, unless it has it. */
async function setMode(grant: Grant, mode: number): Promise<void> {
  const path = grant.realPath;
  if (!hasShell || attempt(() => Deno.lstatSync(path).mode === mode)) return;
  using opened = await openRegular(path, path, "write", grant);
  Deno.chmodSync(pathOfOpen(opened.info, path), mode & 0o7777);
}

/** Adds what a command changed to a step, which may have the file already: `earlier` from before the command. */
function addChange({ files }: UndoStep, change: FolderChange, earlier: Set<string>): void {
  const { path, stamp = ABSENT, bytes, mode } = change;
  const sides = { bytes, mode, ...earlier.has(path) && files.get(path), stamp };
  earlier.add(path);
  if (sides.bytes === undefined && stamp === ABSENT) files.delete(path);
  else files.set(path, sides);
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

/** Removes the folders that are empty, inner ones first. */
function removeEmpty(folders: ReadonlySet<string>, workingDir: string): void {
  const inner = [...folders].filter((folder) => !isWithin(folder, workingDir))
    .sort((a, b) => b.length - a.length);
  if (hasShell) runInPlaces('rmdir -- "$1"', inner.map((at) => [dirname(at), [basename(at)]]));
}

const bytesOfSteps = (steps: readonly UndoStep[]): number =>
  steps.flatMap(({ files }) => [...files.values()])
    .reduce((sum, { bytes }) => sum + (bytes instanceof Uint8Array ? bytes.length : 0), 0);
