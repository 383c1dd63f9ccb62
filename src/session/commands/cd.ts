import { oneLine } from "../../text/one_line.ts";
import { expandHome, resolvePath } from "../../text/paths.ts";
import { reasonOf } from "../../text/reason.ts";
import { noticeLines } from "../notices.ts";
import type { Command, SessionState } from "../extension.ts";

export const cdCommand: Command = {
  name: "cd",
  group: "Work",
  argument: "PATH",
  help: "work in another folder",
  run: changeFolder,
  values: ({ agent }, begun) => foldersBeginning(agent.state, begun),
};

export async function changeFolder(session: SessionState, path: string): Promise<string> {
  const { agent: { state }, permissions, surface: { kind: ui } } = session;
  if (path === "") return oneLine(state.workingDir);
  let folder = resolvePath(state, expandHome(path));
  try {
    folder = Deno.realPathSync(folder);
    if (!Deno.statSync(folder).isDirectory) return `${oneLine(folder)} is not a folder.`;
  } catch (error) {
    const isAbsent = error instanceof Deno.errors.NotFound;
    const why = isAbsent ? "there is no such folder" : oneLine(reasonOf(error));
    return `Cannot change to ${oneLine(folder)}: ${why}`;
  }
  // This may throw, for example for unreadable settings. The session then stays in its folder.
  const notices = await permissions.prepare(folder, false);
  state.workingDir = folder;
  session.mode = await permissions.mode(folder);
  const lines: string[] = [];
  for (const one of session.extensions) lines.push(...await one.enter?.(session) ?? []);
  return [
    `Now in ${oneLine(folder)}`,
    ...notices.flatMap((one) => noticeLines(one, ui)).map((line) => `· ${line}`),
    ...lines,
  ].join("\n");
}

/** Returns the folders whose path starts with `path`, with a trailing `/`; hidden ones after a `.`. */
function foldersBeginning(state: { workingDir: string }, path: string): string[] {
  const above = path.slice(0, path.lastIndexOf("/") + 1);
  const isHidden = path.slice(above.length).startsWith(".");
  const folder = resolvePath(state, expandHome(above) || ".");
  return [...Deno.readDirSync(folder)]
    .filter(({ name, isDirectory, isSymlink }) =>
      (isDirectory || isSymlink) && (isHidden || !name.startsWith("."))
    ).map(({ name }) => `${above}${name}/`).sort();
}
