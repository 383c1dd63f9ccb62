/** The user's answers about what folders bring, bound to its text; a yes also to the very folder. @module */

import { attempt } from "../attempt.ts";
import { digestOf } from "../text/digest.ts";
import { type DiffLine, diffLines } from "../text/diff.ts";
import { readJsonFile, replaceUserFile } from "../user_files.ts";

export interface TrustChange {
  type: "added" | "changed";
  lines?: readonly DiffLine[];
}

/** Why an earlier answer does not count: the text changed, or the folder was replaced. */
export type TrustDoubt = "content" | "folder";

export interface Brought {
  kind: string;
  root: string;
  name: string;
  text: string;
}

export interface TrustVerdict {
  /** The user's answer about this text in this folder; undefined before the first one. */
  isApproved?: boolean;
  doubt?: TrustDoubt;
  /** The change since the last answer; `added` before the first answer about this folder. */
  change?: TrustChange;
}

interface Saved {
  folder: string;
  isApproved: boolean;
  text: string;
}

/** Saves each answer in its own file. Without a state folder, the answers last for this session. */
export class FolderTrust {
  readonly #answers = new Map<string, Saved>();

  /** @param state the state folder; undefined to save nothing */
  constructor(private readonly state: string | undefined) {}

  async of(brought: Brought): Promise<TrustVerdict> {
    const { root, text } = brought;
    const saved = await this.#saved(brought);
    const isSame = saved?.text === text;
    if (isSame && !saved.isApproved) return { isApproved: false };
    const isOther = saved !== undefined && saved.folder !== folderId(root);
    const doubt = isOther ? "folder" : "content";
    if (saved === undefined || isOther) {
      return { ...saved && { doubt }, change: { type: "added", lines: diffLines("", text) } };
    }
    if (isSame) return { isApproved: true };
    return { doubt, change: { type: "changed", lines: diffLines(saved.text, text) } };
  }

  /** Saves an answer. @throws {Error} if saving fails; the answer then lasts for this session. */
  async save(brought: Brought, isApproved: boolean): Promise<void> {
    const { root, name, text } = brought;
    const path = await this.#path(brought);
    const saved = { folder: folderId(root), isApproved, text };
    this.#answers.set(path, saved);
    if (this.state === undefined) throw new Error("there is no home folder to save it in");
    await replaceUserFile(path, `${JSON.stringify({ root, name, ...saved })}\n`);
  }

  async #saved(brought: Brought): Promise<Saved | undefined> {
    const path = await this.#path(brought);
    const known = this.#answers.get(path);
    if (known || this.state === undefined) return known;
    const { folder, isApproved, text } = attempt(() => readJsonFile(path)) ?? {};
    if (typeof folder !== "string" || typeof text !== "string") return undefined;
    return { folder, isApproved: isApproved === true, text };
  }

  async #path({ kind, root, name }: Brought): Promise<string> {
    return `${this.state ?? ""}/trust/${await digestOf(JSON.stringify([kind, root, name]))}.json`;
  }
}

/**
 * Identifies the folder at a path. A later folder may get the same inode, so the creation time is included if the
 * file system has it. The device number is not, because it may change with a restart. A folder that is restored
 * from a backup counts as another folder.
 */
function folderId(path: string): string {
  const { ino, birthtime } = attempt(() => Deno.statSync(path)) ?? {};
  return `${ino ?? 0}-${birthtime?.getTime() ?? 0}`;
}
