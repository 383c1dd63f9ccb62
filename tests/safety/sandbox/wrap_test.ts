import { assertEquals } from "@std/assert";
import { seatbeltProfile } from "../../../src/safety/sandbox/wrap.ts";
import type { View } from "../../../src/safety/view.ts";

const VIEW: View = {
  folder: "/Users/u/w",
  places: new Map([
    ["/usr", "read"],
    ["/private/tmp", "own"],
    ["/Users/u", "hidden"],
    ["/Users/u/.cargo/bin", "read"],
    ["/Users/u/w", "write"],
    ["/Users/u/w/.git", "read"],
    ["/Users/u/w/sub/.git", "read"],
    ["/Users/u/w/.env", "hidden"],
  ]),
  network: false,
  isComplete: true,
};

/** What the profile's last rule for an operation says of a path, as `sandbox-exec` takes it. */
function verdictOf(profile: string, operation: string, path: string): boolean {
  let isAllowed = false;
  for (const line of profile.split("\n")) {
    const [, effect, name, filters = ""] = /^\((allow|deny) ([\w*-]+)(.*)\)$/.exec(line) ?? [];
    const isMeant = name === "default" || name !== undefined &&
        operation.startsWith(name.replace("*", ""));
    const found = [...filters.matchAll(/\((subpath|literal) "([^"]*)"\)/g)];
    const isMatch = found.length === 0 ||
      found.some(([, kind, at]) => path === at || kind === "subpath" && path.startsWith(`${at}/`));
    if (isMeant && isMatch) isAllowed = effect === "allow";
  }
  return isAllowed;
}

Deno.test("R-19 the profile for macOS says of each path what the view does", () => {
  const profile = seatbeltProfile(VIEW);
  const access = (path: string) =>
    ["file-read-data", "file-write-data", "file-write-unlink"]
      .map((operation) => Number(verdictOf(profile, operation, path))).join("");
  const rows: [path: string, read: string][] = [
    ["/usr/bin/env", "100"],
    ["/Users/u/.ssh/id_rsa", "000"],
    ["/Users/other/x", "000"],
    ["/Volumes/x", "000"],
    ["/Users/u/.cargo/bin/cargo", "100"],
    ["/Users/u/w/a.ts", "111"],
    ["/Users/u/w/.git/config", "100"],
    ["/Users/u/w/.git", "100"],
    ["/Users/u/w/.env", "000"],
    // It can be written in, and not moved away with what is protected in it.
    ["/Users/u/w/sub", "110"],
    ["/private/tmp/x", "111"],
  ];
  assertEquals(rows.map(([path]) => [path, access(path)]), rows);
  assertEquals(profile.includes("(deny network*)"), true);
  assertEquals(seatbeltProfile({ ...VIEW, network: true }).includes("network"), false);
});
