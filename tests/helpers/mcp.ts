/** What tests of MCP servers share. */

import { fromFileUrl } from "@std/path/from-file-url";
import { MemoryStore } from "../../src/extensions/mcp/memory.ts";
import type { ServerOptions } from "../../src/extensions/mcp/server.ts";
import { FolderTrust } from "../../src/safety/folder_trust.ts";

const SCRIPT = fromFileUrl(new URL("../extensions/mcp/bad_server.ts", import.meta.url));

/** The definition of a server that does one thing wrong. */
export const badServer = (mode: string, ...more: string[]) => ({
  command: Deno.execPath(),
  args: ["run", "-A", "--no-check", SCRIPT, mode, ...more],
});

/** The options of servers of a session in `folder`; what is known of them is in `state`. */
export const serverOptions = (folder: string, state?: string): ServerOptions => ({
  ...{ folder, env: [], variables: () => undefined, isTrusted: false },
  memory: new MemoryStore(state),
  folderTrust: new FolderTrust(state),
  authFor: () => {
    throw new Error("no address");
  },
});
