/** The backgrounds that terminals reported, by the kind of terminal. A slow one answers after the first rows. @module */

import { attempt } from "../attempt.ts";
import type { Backgrounds } from "../ui/terminal/session/display.ts";
import { processVariable, readJsonFile, replaceUserFile, stateFolder } from "../user_files.ts";

export function backgrounds(env = processVariable): Backgrounds | undefined {
  const folder = stateFolder(env);
  // In tmux, the terminal around it may be another one each time.
  if (folder === undefined || env("TMUX")) return undefined;
  const path = `${folder}/backgrounds.json`;
  const kind = `${env("TERM_PROGRAM") ?? ""} ${env("TERM") ?? ""}`.trim();
  const known = attempt(() => readJsonFile(path)) ?? {};
  const last = known[kind];
  return {
    last: last === "dark" || last === "light" ? last : undefined,
    keep(background) {
      const text = `${JSON.stringify({ ...known, [kind]: background }, null, 2)}\n`;
      // Without it, the next session learns it again.
      replaceUserFile(path, text).catch(() => {});
    },
  };
}
