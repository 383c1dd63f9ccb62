/** The seam by which tools of others come into a session. @module */

import type { Tool } from "../types/tool.ts";

/** Tools that others bring, and what else comes with them. Disposing of it ends all that it started. */
export interface ToolSource extends AsyncDisposable {
  /** The tools to offer, in their order; the same ones for the whole session, as its requests begin with them. */
  readonly tools: readonly Tool[];
  /** The names that may stand behind `@` in a message, beside those of files. */
  names?(): readonly string[];
  /** The text behind such a name; undefined for a name that is not the source's. */
  attach?(name: string, signal: AbortSignal): Promise<string> | undefined;
}
