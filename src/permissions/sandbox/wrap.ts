/**
 * What commands may touch, enforced by the system: the command line that starts a program confined.
 * Pure. On Linux bubblewrap does it, on macOS `sandbox-exec`.
 *
 * Sources: bwrap(1); Apple's sandbox profiles as in /System/Library/Sandbox/Profiles.
 *
 * @module
 */

import { isWithin } from "../../text/paths.ts";

/** What to confine, and to where. */
export interface Confinement {
  /** `read-only`: nothing but a private /tmp can be written; `workspace-write`: the folder too. */
  mode: "read-only" | "workspace-write";
  /** The absolute folder that is worked in, links resolved. */
  folder: string;
  /** The absolute folder that commands see as /tmp, where that is not the same for all. */
  tmp?: string;
  /** Whether commands may use the network. */
  network: boolean;
  /** The home folder, for what is hidden in it. */
  home: string | undefined;
  /** More absolute folders that are hidden. */
  hidden?: readonly string[];
  /** Absolute paths of what may be sockets that others listen on. */
  sockets?: readonly string[];
  /** What is at a path, links followed: what is not there can be neither hidden nor protected. */
  look(path: string): { real: string; isFile: boolean } | undefined;
}

/** Of the folder: what other programs run or obey, so that writing it is as good as a command. */
const PROTECTED =
  `.git/hooks .git/config .git/config.worktree .git/worktrees .gitmodules .githooks .husky
  .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml .vscode .idea .zed .devcontainer .vimrc .exrc .nvimrc .nvim.lua .envrc .npmrc .yarnrc
  .yarnrc.yml .pnpmfile.cjs .yarn/releases .yarn/plugins .opencode
  .copilot .claude .codex .cursor .gemini .mcp.json AGENTS.md CLAUDE.md GEMINI.md`.split(/\s+/);

/** Of the home folder: keys, and sockets of who holds them. */
const SECRETS =
  `.ssh .gnupg .aws .azure .oci .boto .s3cfg .config/gcloud .config/gh .config/hub .config/op
  .kube .docker .netrc .git-credentials .npmrc .yarnrc.yml .pypirc .gem/credentials .cargo/credentials
  .cargo/credentials.toml .terraform.d .pgpass .my.cnf .vault-token .password-store
  .local/share/keyrings .claude/.credentials.json .codex/auth.json .gemini .huggingface
  .cache/huggingface/token .config/rclone .config/sops .config/git/credentials .config/containers
  .config/glab-cli .config/doctl .m2/settings.xml .gradle/gradle.properties .composer/auth.json
  .bundle/config .terraformrc .bash_history .zsh_history .mozilla .config/google-chrome
  .config/chromium`.split(/\s+/);

const below = (folder: string, names: readonly string[]) =>
  names.map((name) => `${folder}/${name}`);

/** What is hidden: but not what is worked in. */
function hiddenPaths({ home, hidden = [], folder }: Omit<Confinement, "look">): string[] {
  return [...(home ? below(home, SECRETS) : []), ...hidden].filter((one) => !isWithin(one, folder));
}

/** Where commands see something else. */
const REPLACED = ["/dev", "/proc", "/run", "/tmp", "/var/tmp"];

/** The arguments of `bwrap` up to the program to start. */
export function bubblewrapArgs(confinement: Confinement): string[] {
  const { mode, folder, tmp, network, sockets = [], look } = confinement;
  const bind = mode === "read-only" ? "--ro-bind" : "--bind";
  const args = [
    "--die-with-parent",
    "--unshare-user",
    "--cap-drop",
    "ALL",
    "--unshare-pid",
    "--unshare-ipc",
  ];
  if (!network) args.push("--unshare-net");
  // Bound later, the root folder would bring back what is put in its place here.
  args.push(folder === "/" ? bind : "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc");
  args.push(...(tmp === undefined ? ["--tmpfs"] : ["--bind", tmp]), "/tmp");
  // Sockets can be connected to on a read-only file system too.
  for (const path of ["/run", "/var/tmp"]) if (look(path)) args.push("--tmpfs", path);
  if (network) {
    for (const path of ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"]) {
      args.push("--ro-bind-try", path, path);
    }
  }
  if (folder !== "/") args.push(bind, folder, folder);
  for (const name of mode === "read-only" ? [] : [".git", ...PROTECTED]) {
    const { real, isFile } = look(`${folder}/${name}`) ?? {};
    // Where a link leads out, nothing can be written anyway.
    if (real === undefined || real === folder || !isWithin(folder, real)) continue;
    // What is mounted on cannot be moved away with all that is protected in it. A `.git` that is a
    // file says where the repository is.
    args.push(name === ".git" && !isFile ? "--bind" : "--ro-bind", real, real);
  }
  for (const path of sockets) {
    const { real, isFile } = look(path) ?? {};
    const isThere = real !== undefined && (folder !== "/" && isWithin(folder, real) ||
      !REPLACED.some((one) => isWithin(one, real)));
    if (isFile && isThere) args.push("--ro-bind", "/dev/null", real);
  }
  // Last, as the folder may be the one that holds them.
  for (const found of hiddenPaths(confinement).map(look)) {
    if (found?.isFile) args.push("--ro-bind", "/dev/null", found.real);
    else if (found && !isWithin(found.real, folder)) args.push("--tmpfs", found.real);
  }
  return [...args, "--chdir", folder, "--"];
}

/** A profile for `sandbox-exec -p`; of its rules the last one that matches counts. */
export function seatbeltProfile(confinement: Omit<Confinement, "look">): string {
  const { mode, folder, network } = confinement;
  const quoted = (path: string) => JSON.stringify(path);
  const subpaths = (paths: readonly string[]) =>
    paths.map((path) => `(subpath ${quoted(path)})`).join(" ");
  const rules = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders") (literal "/dev/null") (literal "/dev/tty"))',
  ];
  if (mode !== "read-only") {
    rules.push(
      `(allow file-write* (subpath ${quoted(folder)}))`,
      `(deny file-write* ${subpaths(below(folder, PROTECTED))})`,
      // Else it could be moved away with all that is protected in it.
      `(deny file-write-unlink (literal ${quoted(`${folder}/.git`)}))`,
    );
  }
  const hidden = hiddenPaths(confinement);
  if (hidden.length > 0) rules.push(`(deny file-read* file-write* ${subpaths(hidden)})`);
  if (!network) rules.push("(deny network*)");
  return rules.join("\n");
}
