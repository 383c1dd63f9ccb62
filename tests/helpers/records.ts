import { listedSessions, type StoredSession, wholeSession } from "../../src/records/store.ts";

/** The files of sessions below `root`, the lowest path first. @module */

export function recordsBelow(root: string): string[] {
  return [...Deno.readDirSync(root)].flatMap(({ name, isDirectory }) =>
    isDirectory ? recordsBelow(`${root}/${name}`) : [`${root}/${name}`]
  ).sort();
}

export const storedSessions = (root: string, folder?: string): StoredSession[] =>
  [...listedSessions(root, folder)].map((one) => wholeSession(one)!);
