/** The paths below the folder that is worked in, for completions. @module */

import type { CopilotAgent } from "../agent/agent.ts";

/** The age in milliseconds at which listed paths are listed anew, and the most time that this takes. */
const LIST_MS = 5000;
const MAX_PATHS = 100_000;

export class FolderPaths {
  #listed: { folder: string; at: number; paths: Promise<string[]> } | undefined;

  constructor(private readonly agent: CopilotAgent) {}

  /** The files that are neither hidden nor ignored, relative to the folder, newest first. */
  get(): Promise<string[]> {
    const folder = this.agent.state.workingDir;
    const now = performance.now();
    if (this.#listed?.folder !== folder || now - this.#listed.at > LIST_MS) {
      this.#listed = { folder, at: now, paths: this.#list() };
    }
    return this.#listed.paths;
  }

  async #list(): Promise<string[]> {
    const [{ runSearch }, { findTarget }] = await Promise.all([
      import("../tools/search/pool.ts"),
      import("../tools/search/target.ts"),
    ]);
    const context = this.agent.toolContext(AbortSignal.timeout(LIST_MS));
    const { walk, prefix } = await findTarget(context, ".", "*", true);
    const found = await runSearch({ walk, prefix, limit: MAX_PATHS }, [walk.root], context.signal);
    return found.files.map(({ path }) => path);
  }
}
