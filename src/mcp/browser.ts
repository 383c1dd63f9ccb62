/** Opens an address in the person's browser. @module */

import { attempt } from "../attempt.ts";
import { checkedAddress } from "./oauth_discovery.ts";
import { findProgram, programFolders } from "../tools/shell/find_program.ts";

/** Opens `url`, without a shell; does nothing where there is no browser: the address was printed, too. */
export function openBrowser(url: string): void {
  const address = checkedAddress(url, url);
  for (const [program, ...args] of browsers()) {
    const path = Deno.build.os === "windows"
      ? program
      : findProgram(program!, programFolders(attempt(Deno.cwd) ?? "/"));
    if (path === undefined) continue;
    const whole = args.join(" ").includes("%s")
      ? args.map((arg) => arg.replaceAll("%s", address))
      : [...args, address];
    try {
      new Deno.Command(path!, { args: whole, stdin: "null", stdout: "null", stderr: "null" })
        .spawn().unref();
      return;
    } catch {
      // The next one.
    }
  }
}

/** Command lines of browsers, best first: $BROWSER lists some with colons between. */
function browsers(): string[][] {
  const named = (Deno.env.get("BROWSER") ?? "").split(Deno.build.os === "windows" ? ";" : ":")
    .map((line) => line.trim().split(/\s+/)).filter(([program]) => program);
  if (named.length > 0) return named;
  if (Deno.build.os === "darwin") return [["open"]];
  if (Deno.build.os === "windows") return [["rundll32", "url.dll,FileProtocolHandler"]];
  return [["xdg-open"], ["wslview"]];
}
