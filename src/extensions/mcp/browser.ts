/** Opens an address in the user's browser. @module */

import { attempt } from "../../attempt.ts";
import { userProgram } from "../../start_program.ts";

/** Opens `url` without a shell. Does nothing if there is no browser: the address has also been printed. */
export function openBrowser(url: string): void {
  for (const [program, ...args] of browsers()) {
    const streams = { stdin: "null", stdout: "null", stderr: "null" } as const;
    const how = { args: [...args, url], ...streams };
    const browser = attempt(() => userProgram(program!, how)?.spawn());
    if (browser) return browser.unref();
  }
}

/** Returns the command lines of browsers, best first. $BROWSER may list several, separated by colons. */
function browsers(): string[][] {
  const configured = (Deno.env.get("BROWSER") ?? "").split(Deno.build.os === "windows" ? ";" : ":")
    .map((line) => line.trim().split(/\s+/)).filter(([program]) => program);
  if (configured.length > 0) return configured;
  if (Deno.build.os === "darwin") return [["open"]];
  if (Deno.build.os === "windows") return [["rundll32", "url.dll,FileProtocolHandler"]];
  return [["xdg-open"], ["wslview"]];
}
