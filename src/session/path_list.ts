/** The paths of the session's folder, for completing `@path`. @module */

import type { CopilotAgent } from "../agent/agent.ts";

/** Paths older than so many milliseconds are listed anew; a listing has the same time. */
const LIST_MS = 5000;
/** The most paths that are listed. */
const MAX_PATHS = 100_000;

export class PathList {
  #listed: { folder: string; at: number; paths: Promise<string[]> } | undefined;

  constructor(private readonly agent: CopilotAgent) {}

  /** The files below the folder that are neither hidden nor ignored, relative to it, newest first. */
  paths(): Promise<string[]> {
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
    const { walk, prefix } = await findTarget(context, ".", "**/*", false);
    const found = await runSearch({ walk, prefix, limit: MAX_PATHS }, [walk.root], context.signal);
    return found.files.map(({ path }) => path);
  }
}
