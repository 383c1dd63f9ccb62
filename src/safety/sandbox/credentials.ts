/** The sandbox of a git command that uses the user's credentials: its view, settings and variables. @module */

import { isWithin } from "../../text/paths.ts";
import { dirname, join } from "../../text/std_path.ts";
import { RefusedError } from "../../tools/call_errors.ts";
import type { Right } from "../../types/confine.ts";
import type { PathAccess } from "../folder_looks.ts";
import { hasForeignParts, isLinkedTree } from "../git_files.ts";
import { type GitSource, settingsText } from "../git_queries.ts";
import { entryAt } from "../places.ts";
import type { GitSetting } from "../settings.ts";
import { isHarmlessSetting } from "../shell/git_command.ts";
import type { View } from "../view.ts";
import { outerEnvironment } from "./wrap.ts";

/**
 * Returns a view of all that the user can read, with the network and the sockets of the user's agents, in which only
 * `written` can be written.
 */
function openView(
  view: View,
  written: readonly string[],
  home: string | undefined,
  agent: string | undefined,
): View {
  const isListed = (path: string, access: PathAccess) =>
    access === "write" && !written.some((at) => isWithin(at, path));
  const isReplaced = (path: string, access: PathAccess) =>
    access === "hidden"
      ? !isWithin(view.folder, path)
      : access === "own" && home !== undefined && isWithin(home, path);
  const places = new Map([...view.places].filter((place) => !isReplaced(...place)));
  const all = [...Deno.readDirSync("/")].map(({ name }) => `/${name}`);
  const usual = all.filter((path) => !/^\/(dev|proc|sys)$/.test(path) && !places.has(path));
  // These may be in folders that commands see as others.
  const own = [home ?? [], agent ? dirname(agent) : []].flat();
  const listed = [...places].filter((place) => isListed(...place)).map(([path]) => path);
  const read = [...usual, ...own.filter(entryAt), ...listed, view.folder];
  for (const path of read) places.set(path, "read");
  return { ...view, places, texts: new Map(), network: true, hasSockets: true };
}

const SETTINGS = ["config", "config.worktree"];
const EMPTY_FOLDER = Deno.build.os === "darwin" ? "/var/empty" : "/dev/shm";

/** The variables that git and the user's helpers get. Those of toolchains could lead them to code of the folder. */
const PASSED_NAMES =
  /^(HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TERM|TZ|NO_COLOR|PATH|TMPDIR|XDG_\w+|SSH_\w+|GIT_\w+|GCM_\w+|GPG_TTY|GNUPGHOME|DBUS_SESSION_BUS_ADDRESS|AWS_\w+|\w+_TOKEN|\w+_proxy|SSL_CERT_\w+|CURL_CA_BUNDLE)$/i;

export const credentialsEnvironment = (variables: Readonly<Record<string, string>>) =>
  outerEnvironment(
    Object.fromEntries(Object.entries(variables).filter(([name]) => PASSED_NAMES.test(name))),
  );

/**
 * Returns the view, the settings of its repositories without what git runs or follows, and the variables for git. The
 * settings are copies: what a program writes after the check does not count.
 *
 * @param own the absolute path of a folder that no program sees
 * @throws {RefusedError} if git's folder is not open in the view
 */
export function withCredentials(
  source: GitSource,
  view: View,
  { stated = [], own, value, right }: {
    stated: readonly GitSetting[] | undefined;
    own: string;
    value: (name: string) => string | undefined;
    right: Right;
  },
): { seen: View; texts: Map<string, string>; variables: Record<string, string> } {
  const [agent, ...ssh] = ["SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_SSH"].map(value);
  const { gitFolder = "", repository = gitFolder } = right;
  Deno.mkdirSync(own, { recursive: true, mode: 0o700 });
  const local = stated.filter((one) =>
    !/^(global|system)$/.test(one.scope) && isHarmlessSetting(one, gitFolder)
  );
  const texts = new Map([
    [join(gitFolder, "commondir"), gitFolder === repository ? ".\n" : "../..\n"],
    ...[repository, gitFolder].flatMap((at) => SETTINGS.map((name) => join(at, name)))
      .filter((path) => entryAt(path)?.isFile).map((path) => [path, ""] as const),
    [join(repository, "config"), settingsText(local)],
  ]);
  const isOpen = (at: string) => view.places.get(at) === "write";
  const isWhole = isOpen(repository) && isOpen(gitFolder) && [...texts.keys()].every(entryAt) &&
    (gitFolder === repository || isLinkedTree(gitFolder));
  // Nothing changes it from here on.
  if (!isWhole || hasForeignParts(repository)) {
    throw new RefusedError(
      `${gitFolder} cannot be opened in the sandbox, as another command changes it or it has links.`,
    );
  }
  const isOwn = Deno.uid() === 0 || stated.some(({ name }) => name === "core.sshcommand");
  const file = entryAt(`${source.home}/.ssh/config`) ? "~/.ssh/config" : "none";
  return {
    // The user's helpers may look for code where they start, and above.
    seen: { ...openView(view, [repository, gitFolder], source.home, agent), startIn: "/" },
    texts,
    variables: {
      ...right.variables,
      GIT_DIR: gitFolder,
      // Otherwise it is the start folder, in which the index may name submodules.
      GIT_WORK_TREE: EMPTY_FOLDER,
      PATH: source.programs.join(":"),
      ...agent && { SSH_AUTH_SOCK: agent },
      // In the sandbox, no file belongs to root, and ssh refuses the system's settings if they belong to others.
      ...!isOwn && !ssh.some(Boolean) && { GIT_SSH_COMMAND: `ssh -F ${file}` },
    },
  };
}
