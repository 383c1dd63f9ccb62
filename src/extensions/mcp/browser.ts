/** Opens an address in the user's browser. @module */

import { isAbsolute } from "../../text/std_path.ts";
import { checkedAddress } from "./oauth_discovery.ts";
import { attempt } from "../../attempt.ts";
import { findProgram, outerFolders } from "../../find_program.ts";

/** Opens `url` without a shell. Does nothing if there is no browser: the address has also been printed. */
export function openBrowser(url: string): void {
  const address = checkedAddress(url, url);
  for (const [program, ...args] of browsers()) {
    const path = Deno.build.os === "windows" || isAbsolute(program!)
      ? program
      : findProgram(program!, outerFolders(), attempt(Deno.cwd));
    if (path === undefined) continue;
    const whole = args.join(" ").includes("%s")
      ? args.map((arg) => arg.replaceAll("%s", address))
      : [...args, address];
    try {
      new Deno.Command(path!, { args: whole, stdin: "null", stdout: "null", stderr: "null" })
        .spawn().unref();
      return;
    } catch {
      // Try the next browser.
    }
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
