/**
 * A home folder with a working folder, and the paths against which a view is checked: one list for tests and for
 * `scripts/confinement`.
 */

import { PROTECTED_ROWS } from "../../src/safety/protected_paths.ts";

/** Paths of one kind. */
export interface PathKind {
  kind: string;
  /** The folder that `names` are relative to. */
  under: "home" | "folder" | "root";
  names: readonly string[];
}

export interface ViewTree {
  base: string;
  home: string;
  folder: string;
}

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");

/** Alternatives of a row's patterns, with wildcards replaced by letters. */
function examples(text: string): string[] {
  return words(text).flatMap((glob): string[] => {
    const [, before, inner, after] = /^(.*?)\{(.*?)\}(.*)$/.exec(glob) ?? [];
    if (inner !== undefined) {
      return inner.split(",").flatMap((one) => examples(`${before}${one}${after}`));
    }
    if (glob.startsWith("/") || glob.includes("**")) return [];
    const name = glob.replace(/^~\//, "").replaceAll("*", "x").replaceAll("?", ".");
    return [name.endsWith("/") ? `${name}inside` : name];
  });
}

const TOOLS = words(
  `.cargo/bin/cargo .cargo/registry/src/a .rustup/toolchains/a .nvm/versions/a .pyenv/shims/python go/pkg/mod/a
   .deno/bin/deno .m2/repository/a .gradle/caches/a .local/bin/tool .local/lib/python/a .nuget/packages/a bin/own`,
);
const PRIVATE = words(
  `Documents/letter.txt Desktop/a Mail/inbox .bashrc .profile .config/app/settings.json .local/share/app/data
   .local/state/app .thunderbird/x notes.txt .viminfo .lesshst other/project/file`,
);
const SECRETS = [
  ...new Set([
    ...words(
      `.mozilla/x .python_history .docker/config.json .cargo/credentials.toml .m2/settings.xml
       .gradle/gradle.properties .ssh/id_rsa .config/gh/hosts.yml .netrc .config/github-copilot/hosts.json
       .config/pip/pip.conf .gnupg/x .kube/config .aws/credentials`,
    ),
    ...PROTECTED_ROWS.filter(({ kind }) => kind === "secret").flatMap(({ paths }) =>
      examples(paths)
    ),
  ]),
];

const inFolder = (kind: string, names: string): PathKind => ({
  kind,
  under: "folder",
  names: words(names),
});
const inRoot = (kind: string, names: string): PathKind => ({
  kind,
  under: "root",
  names: words(names),
});

/** Paths for which the view says exactly what a sandboxed command can do. */
export const PATH_KINDS: readonly PathKind[] = [
  inFolder("sources", ". src src/a.ts src/deep/b.ts package.json node_modules/.bin/x inner/a.ts"),
  inFolder(
    "git's files",
    ".git .git/HEAD .git/hooks .git/objects .git/worktrees/tree/commondir .git/refs/heads",
  ),
  inFolder("git's settings", ".git/config nested/.git/config .git/modules/sub/config"),
  inFolder("a submodule", "sub/.git .git/modules/sub .git/modules/sub/HEAD .git/modules/sub/hooks"),
  inFolder("a nested repository", "nested/.git nested/.git/hooks nested/.git/HEAD"),
  inFolder("a bare repository", "bare bare/config bare/hooks bare/HEAD"),
  inFolder("a repository in.bare", "layout/.git layout/.bare layout/.bare/HEAD layout/.bare/hooks"),
  inFolder("hooks, included settings", "my-hooks my-hooks/pre-commit extra.gitconfig"),
  inFolder("another worktree", "../tree ../tree/.git"),
  inFolder(
    "settings that others run",
    ".vscode .vscode/tasks.json AGENTS.md .yarn/releases .yarn/releases/y",
  ),
  inFolder("secrets of the folder", ".npmrc .envrc .env src/deep/.env src/deep/key.pem"),
  inFolder("links out of the folder", "out out/o .nothing/id_rsa"),
  inFolder("links to readable places", "host"),
  inFolder("links to secrets", "looks-plain"),
  { kind: "toolchains", under: "home", names: TOOLS },
  { kind: "the home folder", under: "home", names: PRIVATE },
  { kind: "secrets of the home folder", under: "home", names: [...SECRETS, "x.pem"] },
  inRoot("the system", "/etc/hosts /etc/passwd /usr/lib /var/lib/dpkg/status"),
  inRoot("passwords of the system", "/etc/shadow /etc/gshadow /etc/sudoers"),
  inRoot(
    "other places",
    "/root/.bashrc /var/log/dpkg.log /home /mnt /media /srv /boot /run/utmp /var/spool /var/mail",
  ),
];

/** Returns the existing paths of `kinds`, each with its kind. */
export function pathsOf(
  kinds: readonly PathKind[],
  { home, folder }: Pick<ViewTree, "home" | "folder">,
): { kind: string; path: string }[] {
  const at = { home: `${home}/`, folder: `${folder}/`, root: "" };
  return kinds.flatMap(({ kind, under, names }) =>
    names.map((name) => ({ kind, path: `${at[under]}${name}` }))
  ).filter(({ path }) => isThere(path));
}

export function isThere(path: string): boolean {
  try {
    return Deno.statSync(path) !== undefined;
  } catch {
    return false;
  }
}

/** Makes a home folder with secrets, and in it the working folder `work`, with git's layouts and links. */
export async function viewTree(): Promise<ViewTree> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [home, folder] = [`${base}/home`, `${base}/home/work`];
  for (const name of [...TOOLS, ...PRIVATE, ...SECRETS]) {
    const path = `${home}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (!isThere(path)) await Deno.writeTextFile(path, "home");
  }
  await Deno.mkdir(folder);
  const { success, stderr } = await new Deno.Command("bash", {
    args: ["-ec", LAYOUT],
    cwd: folder,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return { base, home, folder };
}

const LAYOUT = `
  git init -q . && git config user.email a@b && git config user.name a
  git commit -q --allow-empty -m one && git worktree add -q ../tree
  git init -q --bare bare && git init -q nested && git -C nested config core.hooksPath ../my-hooks
  git -C nested config include.path ../../extra.gitconfig
  git clone -q . ../origin && git -c protocol.file.allow=always submodule --quiet add "$PWD/../origin" sub
  mkdir layout && git clone -q --bare . layout/.bare && echo 'gitdir: ./.bare' > layout/.git
  mkdir -p my-hooks src/deep .vscode node_modules/.bin ../other/outside .yarn/releases
  for f in my-hooks/pre-commit extra.gitconfig src/a.ts src/deep/b.ts .vscode/tasks.json .npmrc .envrc .env \\
    src/deep/.env src/deep/key.pem AGENTS.md package.json node_modules/.bin/x node_modules/a.pem \\
    .yarn/releases/y ../other/outside/o; do echo text > "$f"; done
  ln -s ../other/outside out; ln -s src inner; ln -s .env looks-plain; ln -s /etc/hostname host
  ln -s ../../.ssh .nothing; mkfifo fifo`;
