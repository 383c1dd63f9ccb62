/** Which hooks of folders a person approved: by the exact text of a file's hooks, and where it lies. @module */

import { attempt } from "../../attempt.ts";
import { digestOf } from "../../text/digest.ts";
import { readJsonFile, replaceUserFile } from "../../user_files.ts";

export class HookApprovals {
  /** @param folder the folder that keeps the answers; undefined where there is none */
  constructor(private readonly folder: string | undefined) {}

  /** The person's answer; undefined where they gave none. */
  async of(path: string, text: string): Promise<boolean | undefined> {
    const file = await this.#file(path, text);
    const { isApproved } = attempt(() => readJsonFile(file ?? "", false)) ?? {};
    return typeof isApproved === "boolean" ? isApproved : undefined;
  }

  /** Keeps an answer; one that cannot be kept counts for this session alone. */
  async keep(path: string, text: string, isApproved: boolean): Promise<void> {
    const file = await this.#file(path, text);
    if (file === undefined) return;
    await replaceUserFile(file, `${JSON.stringify({ path, isApproved })}\n`).catch(() => {});
  }

  async #file(path: string, text: string): Promise<string | undefined> {
    if (this.folder === undefined) return undefined;
    const name = await digestOf(JSON.stringify([path, text]));
    return `${this.folder}/${name}.json`;
  }
}
