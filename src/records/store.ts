/**
 * Sessions on disk: each in a file of its own, which only its own process ever writes. Going on with one
 * begins another, so nothing is shared, locked or repaired.
 *
 * @module
 */

import { join } from "../text/std_path.ts";
import type { Message } from "../types/message.ts";
import { type Added, type Head, parseSession, recordOf, type Stored, type Used } from "./format.ts";
import { repaired } from "./repair.ts";

/** Writes a session as it goes on. */
export interface Recorder {
  /** Writes what is new in `messages`, and what they are with; the file is made with the first. */
  sync(messages: readonly Message[], used?: Used): void;
  /** `messages` are those of another session: what is added to them makes one of its own. */
  goesOn(messages: readonly Message[], from: Pick<Head, "continues" | "title">): void;
}

/** A session, and the name of its file. */
export interface Kept extends Stored {
  name: string;
}

/** So many sessions are kept; the oldest go. */
const MAX_KEPT = 200;
/** More is not read: a session is text. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Records the session that is worked on in `folder` below `root`. */
export function openRecorder(root: string, folder: () => string): Recorder {
  let file: Deno.FsFile | undefined;
  let known: readonly Message[] = [];
  let from: Pick<Head, "continues" | "title"> = {};
  let told: string | undefined;
  const begin = (messages: readonly Message[], next: typeof from) => {
    file?.close();
    file = told = undefined;
    known = [...messages];
    from = next;
  };
  return {
    goesOn: begin,
    sync(messages, used) {
      const same = known.every((message, i) => message === messages[i]);
      if (same && messages.length === known.length) return;
      const added: Added[] = file && !same
        ? [{ messages: [...messages] }]
        : messages.slice(file ? known.length : 0).map((message) => ({ message }));
      known = [...messages];
      if (added[0]) {
        const now = JSON.stringify(used);
        if (used && now !== told) added[0].used = used;
        told = now;
        file ??= create(root, { folder: folder(), ...from });
        const bytes = new TextEncoder().encode(added.map(recordOf).join(""));
        for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
      }
      // What comes after all was forgotten has nothing to do with it.
      if (messages.length === 0) begin([], {});
    },
  };
}

function create(root: string, about: Omit<Head, "version" | "started">): Deno.FsFile {
  Deno.mkdirSync(root, { recursive: true, mode: 0o700 });
  const started = new Date().toISOString();
  for (const old of namesIn(root).slice(MAX_KEPT - 1)) Deno.removeSync(join(root, old));
  const name = `${started.replaceAll(/[:.]/g, "-")}-${crypto.randomUUID().slice(0, 8)}.jsonl`;
  const file = Deno.openSync(join(root, name), { append: true, createNew: true, mode: 0o600 });
  file.writeSync(new TextEncoder().encode(recordOf({ version: 1, started, ...about })));
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

/** A head is no longer: the path of a folder, a title, and little else. */
const MAX_HEAD_BYTES = 16 * 1024;

/** The head of the session in a file, without reading all of it. */
function headOf(path: string): Head {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(MAX_HEAD_BYTES);
  const text = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  return parseSession(text.slice(0, text.indexOf("\n") + 1)).head;
}

/**
 * The sessions of `folder`, newest first, each whole: every call has its result. One that another goes
 * on from is a part of that.
 */
export function* storedSessions(root: string, folder: string): Generator<Kept> {
  const parts = new Set<string>();
  for (const name of namesIn(root)) {
    try {
      const path = join(root, name);
      const { isFile, size } = Deno.statSync(path);
      // A pipe would be waited for.
      if (!isFile || size > MAX_BYTES) continue;
      const { folder: at, continues = "" } = headOf(path);
      if (at !== folder) continue;
      if (parts.has(name)) {
        parts.add(continues);
        continue;
      }
      const stored = parseSession(Deno.readTextFileSync(path));
      if (stored.messages.length === 0) continue;
      parts.add(continues);
      yield { ...stored, name, messages: repaired(stored.messages) };
    } catch {
      // Somebody else's file, or one that is just being made or removed: the others are there.
    }
  }
}
