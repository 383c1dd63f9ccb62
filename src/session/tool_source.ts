/** The interface through which extensions add tools to a session. @module */

import type { Tool } from "../types/tool.ts";

/** Additional tools, and what belongs to them. Disposing of it ends everything it started. */
export interface ToolSource extends AsyncDisposable {
  /** The tools, in order. They never change during a session, because its requests start with them. */
  readonly tools: readonly Tool[];
  /** Names that may follow `@` in a message, besides those of files. */
  names?(): readonly string[];
  /** Returns the text for such a name; undefined for a name of another source. */
  attach?(name: string, signal: AbortSignal): Promise<string> | undefined;
}
