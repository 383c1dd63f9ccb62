/**
 * Sessions on disk: each in a file of its own, which only its own process ever writes. Going on with one
 * begins another, so nothing is shared, locked or repaired.
 *
 * @module
 */

import { join } from "../text/std_path.ts";
import type { Message } from "../types.ts";
import { parseSession, recordOf, type Stored } from "./format.ts";
import { repaired } from "./repair.ts";

/** Writes a session as it goes on. */
export interface Recorder {
  /** Writes what is new in `messages`; the file is made with the first. */
  sync(messages: readonly Message[]): void;
}

/** So many sessions are kept; the oldest go. */
const MAX_KEPT = 200;
/** More is not read: a session is text. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Records the session that is worked on in `folder` below `root`. */
export function openRecorder(root: string, folder: () => string): Recorder {
  let file: Deno.FsFile | undefined;
  let known: Message[] = [];
  return {
    sync(messages) {
      if (messages.length === 0 && file === undefined) return;
      const same = known.every((message, i) => message === messages[i]);
      const text = same
        ? messages.slice(known.length).map((message) => recordOf({ message })).join("")
        : recordOf({ messages: [...messages] });
      known = [...messages];
      if (text === "") return;
      file ??= create(root, folder());
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    },
  };
}

function create(root: string, folder: string): Deno.FsFile {
  Deno.mkdirSync(root, { recursive: true, mode: 0o700 });
  const started = new Date().toISOString();
  for (const old of namesIn(root).slice(MAX_KEPT - 1)) Deno.removeSync(join(root, old));
  const name = `${started.replaceAll(/[:.]/g, "-")}-${crypto.randomUUID().slice(0, 8)}.jsonl`;
  const file = Deno.openSync(join(root, name), { append: true, createNew: true, mode: 0o600 });
  file.writeSync(new TextEncoder().encode(recordOf({ version: 1, folder, started })));
  return file;
}

/** The files of sessions, newest first. */
function namesIn(root: string): string[] {
  try {
    return [...Deno.readDirSync(root)].map(({ name }) => name)
      .filter((name) => name.endsWith(".jsonl")).sort().reverse();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A head is no longer: the path of a folder, and little else. */
const MAX_HEAD_BYTES = 16 * 1024;

/** What folder the session in a file is of, without reading all of it. */
function folderOf(path: string): string | undefined {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(MAX_HEAD_BYTES);
  const text = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  return parseSession(text.slice(0, text.indexOf("\n") + 1)).head.folder;
}

/** The sessions of `folder`, newest first, each whole: every call has its result. */
export function* storedSessions(root: string, folder: string): Generator<Stored> {
  for (const name of namesIn(root)) {
    try {
      const path = join(root, name);
      const { isFile, size } = Deno.statSync(path);
      // A pipe would be waited for.
      if (!isFile || size > MAX_BYTES || folderOf(path) !== folder) continue;
      const stored = parseSession(Deno.readTextFileSync(path));
      if (stored.messages.length === 0) continue;
      yield { ...stored, messages: repaired(stored.messages) };
    } catch {
      // Somebody else's file, or one that is just being made or removed: the others are there.
    }
  }
}
