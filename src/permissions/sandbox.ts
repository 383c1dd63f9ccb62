/**
 * What commands may touch, enforced by the system: the command line that starts a program confined.
 * Pure. On Linux bubblewrap does it, on macOS `sandbox-exec`.
 *
 * Sources: bwrap(1); Apple's sandbox profiles as in /System/Library/Sandbox/Profiles.
 *
 * @module
 */

/** `read-only`: nothing but a private /tmp can be written; `workspace-write`: the folder too. */
export type SandboxMode = "read-only" | "workspace-write";

/** What to confine, and to where. */
export interface Confinement {
  mode: SandboxMode;
  /** The absolute folder that is worked in, links resolved. */
  folder: string;
  /** The absolute folder that commands see as /tmp, where that is not the same for all. */
  tmp?: string;
  /** Whether commands may use the network. */
  network: boolean;
  /** The home folder, for what is hidden in it. */
  home: string | undefined;
  /** Whether a path exists: what does not can be neither hidden nor protected. */
  exists(path: string): boolean;
}

/** Of the folder: what other programs run or obey, so that writing it is as good as a command. */
export const PROTECTED = [
  ".git/hooks",
  ".git/config",
  ".gitmodules",
  ".vscode",
  ".idea",
  ".envrc",
  ".npmrc",
  ".husky",
  ".copilot",
];

/** Of the home folder: keys, and sockets of who holds them. */
const SECRETS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".netrc",
  ".git-credentials",
  ".config/gcloud",
  ".config/gh",
  ".local/share/keyrings",
  ".password-store",
];

const below = (folder: string, names: readonly string[]) =>
  names.map((name) => `${folder}/${name}`);

/** The arguments of `bwrap` up to the program to start. */
export function bubblewrapArgs(
  { mode, folder, tmp, network, home, exists }: Confinement,
): string[] {
  const args = [
    "--die-with-parent",
    "--unshare-user",
    "--cap-drop",
    "ALL",
    "--unshare-pid",
    "--unshare-ipc",
  ];
  if (!network) args.push("--unshare-net");
  args.push("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc");
  args.push(...(tmp === undefined ? ["--tmpfs"] : ["--bind", tmp]), "/tmp");
  // Sockets can be connected to on a read-only file system too.
  for (const path of ["/run", "/var/tmp"]) if (exists(path)) args.push("--tmpfs", path);
  if (network) {
    for (const path of ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"]) {
      args.push("--ro-bind-try", path, path);
    }
  }
  for (const path of home ? below(home, SECRETS).filter(exists) : []) {
    args.push(...(isFileName(path) ? ["--ro-bind", "/dev/null", path] : ["--tmpfs", path]));
  }
  args.push(mode === "read-only" ? "--ro-bind" : "--bind", folder, folder);
  if (mode !== "read-only") {
    for (const path of below(folder, PROTECTED).filter(exists)) args.push("--ro-bind", path, path);
  }
  return [...args, "--chdir", folder, "--"];
}

const isFileName = (path: string): boolean => /\/\.(netrc|git-credentials)$/.test(path);

/** A profile for `sandbox-exec -p`. */
export function seatbeltProfile({ mode, folder, network, home }: Confinement): string {
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
    );
  }
  if (home) rules.push(`(deny file-read* ${subpaths(below(home, SECRETS))})`);
  if (!network) rules.push("(deny network*)");
  return rules.join("\n");
}
