/** What a git command sees that uses the user's credentials. It writes only git's folders. @module */

import { isWithin } from "../../text/paths.ts";
import { basename, dirname } from "../../text/std_path.ts";
import type { Right } from "../../types/confine.ts";
import type { PathAccess } from "../folder_looks.ts";
import { smallFile } from "../git_files.ts";
import { type GitSource, harmlessText } from "../git_queries.ts";
import { entryAt } from "../places.ts";
import type { GitSetting } from "../settings.ts";
import type { View } from "../view.ts";

/**
 * Returns a view of all that the user can read, with the network and the sockets of the user's agents.
 *
 * @param agent the path of the socket of ssh's agent
 */
export function credentialsView(view: View, home: string | undefined, agent?: string): View {
  const isReplaced = (path: string, access: PathAccess) =>
    access === "none"
      ? !isWithin(view.folder, path)
      : access === "own" && home !== undefined && isWithin(home, path);
  const places = new Map([...view.places].filter((place) => !isReplaced(...place)));
  const all = [...Deno.readDirSync("/")].map(({ name }) => `/${name}`);
  const usual = all.filter((path) => !/^\/(dev|proc|sys)$/.test(path) && !places.has(path));
  // These may be in folders that commands see as others.
  const own = [home ?? [], agent ? dirname(agent) : []].flat();
  for (const path of [...usual, ...own.filter(entryAt)]) places.set(path, "read");
  return { ...view, places, texts: new Map(), network: true, hasSockets: true };
}

/**
 * Returns the settings of the repositories that the view opens, without what git runs or follows, and the variables for
 * git. The settings are copies: what a program writes after the check does not count.
 *
 * @param own the absolute path of a folder that no program sees
 */
export function credentialsInputs(
  source: GitSource,
  view: View,
  { stated = [], own, value, right }: {
    stated: readonly GitSetting[] | undefined;
    own: string;
    value: (name: string) => string | undefined;
    right: Right;
  },
): { texts: Map<string, string>; variables: Record<string, string> } {
  const texts = new Map<string, string>();
  for (const [path, access] of view.places) {
    const folder = dirname(path);
    const isSettings = access === "read" && /^config(\.worktree)?$/.test(basename(path));
    if (!isSettings || view.places.get(folder) !== "write" || !entryAt(path)?.isFile) continue;
    const text = smallFile(path);
    const copy = Deno.makeTempFileSync({ dir: own });
    Deno.writeTextFileSync(copy, text);
    texts.set(path, harmlessText(source, copy, folder) ?? text);
    Deno.removeSync(copy);
  }
  const [agent, ...ssh] = ["SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_SSH"].map(value);
  const isOwn = Deno.uid() === 0 || stated.some(({ name }) => name === "core.sshcommand");
  const file = entryAt(`${source.home}/.ssh/config`) ? "~/.ssh/config" : "none";
  return {
    texts,
    variables: {
      ...right.variables,
      ...agent && { SSH_AUTH_SOCK: agent },
      // In the sandbox, no file belongs to root, and ssh refuses the system's settings if they belong to others.
      ...!isOwn && !ssh.some(Boolean) && { GIT_SSH_COMMAND: `ssh -F ${file}` },
    },
  };
}
