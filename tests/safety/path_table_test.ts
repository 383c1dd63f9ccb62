import { contentOf } from "../tools/text_results.ts";
import { assert, assertEquals } from "@std/assert";
import { dirname } from "@std/path/dirname";
import { ANY_HOME, PathTable } from "../../src/safety/path_table.ts";
import { PROTECTED_ROWS, type ProtectedRow } from "../../src/safety/protected_paths.ts";
import { makeView } from "../../src/safety/make_view.ts";
import { accessAt } from "../../src/safety/view.ts";
import { openPermissions, type Permissions } from "../../src/safety/permissions.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { Decision } from "../../src/types/policy.ts";
import { cpuTime } from "../helpers/cpu_time.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

const unix = { ignore: Deno.build.os === "windows" };

/** A path for each pattern of a row: `~/`, `/` or nothing at its start, as in the table. */
function examplesOf({ paths }: Pick<ProtectedRow, "paths">): string[] {
  const expand = (glob: string): string[] => {
    const [all, inner] = /\{(.*?)\}/.exec(glob) ?? [];
    return all ? inner!.split(",").flatMap((part) => expand(glob.replace(all, part))) : [glob];
  };
  return paths.split(" ").flatMap(expand).map((glob) =>
    glob.replace("**", "modules/a").replaceAll("*", "x").replaceAll("?", ".").replace(/\/$/, "/in")
  );
}

/** The example as an absolute path, in the home folder `home`. */
const placed = (home: string, example: string) =>
  example.startsWith("/") ? example : `${home}/${example.replace(/^~\//, "")}`;

type Looks = NonNullable<ConstructorParameters<typeof PathTable>[1]>;

/** A file system that holds `files`, and their folders. */
function looksAt(files: readonly string[]): Looks {
  const folders = new Set<string>();
  for (const file of files) {
    for (let at = file; at !== "/"; at = dirname(at)) folders.add(dirname(at));
  }
  const realPath = (path: string) => files.includes(path) || folders.has(path) ? path : undefined;
  return {
    realPath,
    list: (folder) =>
      [
        ...new Set(
          [...files, ...folders].filter((path) => path !== "/" && dirname(path) === folder),
        ),
      ].map((path) => path.slice(folder.length).replace(/^\//, "")),
  };
}

for (const row of PROTECTED_ROWS) {
  test(`R-19 one table: ${row.what}: ${row.paths}`, () => {
    for (const example of examplesOf(row)) {
      const path = placed("/home/u", example);
      const looks = looksAt([path]);
      const paths = new PathTable({ home: "/home/u" }, looks);
      const kind = row.kind === "secret" ? paths.secretKind(path) : paths.protectedKind(path);
      assert(kind !== undefined, path);
      assertEquals(row.kind === "secret" && !paths.secretPattern.test(path), false, path);
    }
  });
}

test("R-19 one table: a path that the sandbox hides is a secret", () => {
  const files = PROTECTED_ROWS.flatMap(examplesOf).map((example) => placed("/home/u", example));
  const paths = new PathTable({ home: "/home/u", own: ["/data/copilot"] }, looksAt(files));
  const secrets = paths.confinedSecrets();
  assert(secrets.length > 100);
  for (const { path, isFolder, what } of secrets) {
    assertEquals(paths.secretKind(path), what);
    if (isFolder) assert(paths.secretKind(`${path}/x/y`) !== undefined, path);
  }
});

test("R-19 secrets of the home folder are looked up where they may be, whatever their case", () => {
  const lookedUp = (names: readonly string[]) => {
    const asked: string[] = [];
    const realPath = (path: string) => {
      asked.push(path);
      return undefined;
    };
    const list = (folder: string) => folder.startsWith("/home/u") ? names : [];
    new PathTable({ home: "/home/u/" }, { realPath, list }).confinedSecrets();
    const isAsked = (path: string) => asked.includes(path);
    return [isAsked("/home/u/.ssh"), isAsked("/home/u/.aws"), isAsked("/etc/sudoers.d")];
  };
  assertEquals(lookedUp(["Documents", ".ssh"]), [true, false, true]);
  // As file systems of Apple and Microsoft have it.
  assertEquals(lookedUp([".SSH"]), [true, false, true]);
  // A folder that cannot be listed may hold anything.
  assertEquals(lookedUp([]), [true, true, true]);
});

Deno.test("R-08 what makes a program run others, or tells an agent what to do, is protected", () => {
  const names = [
    ...(
      ".envrc.local mise.toml .mise.local.toml .tool-versions .mise/config.local.toml .direnv/flake.rc .autoenv.zsh .helix/languages.toml .dir-locals.el " +
      ".dir-locals-2.el .agents/hooks.json .agents/mcp.json .zed/tasks.json"
    ).split(" "),
    ...["lefthook-local.yml", ".lefthook/pre-commit/a", ".devcontainer.json", "opencode.json"],
    ...["crush.json", ".aider.conf.yml", ".continue/a", ".junie/a", "mise/config.toml"],
    ...[".sl/config", "_darcs/prefs/defaults", ".git-hooks/a", ".Rprofile", ".pdbrc"],
    ...[".husky/pre-commit", ".yarnrc.yml", "CLAUDE.local.md", "GEMINI.md", ".goosehints"],
    ...[".cursorrules", ".windsurf/rules/x.md", ".github/instructions/a.md", ".qwen/settings.json"],
    ...[
      ".git/config",
      ".git/modules/x/config",
      ".gitmodules",
      ".vscode/tasks.json",
      ".bash_aliases",
    ],
  ];
  for (const name of names) {
    assert(ANY_HOME.protectedKind(`/work/deep/${name}`) !== undefined, name);
  }
  for (const name of ["envrc.md", "README.md", "src/git/config", "claude.md.txt"]) {
    assertEquals(ANY_HOME.protectedKind(`/work/${name}`), undefined, name);
  }
});

Deno.test("R-19 a copy that an editor or a file manager made of a secret is one, too", () => {
  const names = [
    ...["#.npmrc#", ".npmrc~", "credentials.json.bak", ".id_rsa.swp", ".netrc.swo", "id_rsa copy"],
    ...["id_rsa (copy)", "key.pem.old", ".aws/credentials~", "prod.tfvars", ".dev.vars.swp"],
  ];
  for (const name of names) {
    assert(ANY_HOME.secretKind(`/work/${name}`) !== undefined, name);
    assert(ANY_HOME.mayMatch(name), name);
  }
  for (const name of ["cacert.pem", "id_rsa.pub", "notes.bak", "keys (copy)"]) {
    assertEquals(ANY_HOME.secretKind(`/work/${name}`), undefined, name);
  }
});

/** A home folder beside a folder to work in, on disk; `env` is that of a person who may read everywhere. */
function homeWith(files: readonly string[]) {
  const base = Deno.realPathSync(Deno.makeTempDirSync());
  const put = (path: string, text = "TOKEN\n") => {
    Deno.mkdirSync(dirname(`${base}/${path}`), { recursive: true });
    Deno.writeTextFileSync(`${base}/${path}`, text);
  };
  for (const path of ["work/plain.txt", "home/plain.txt"]) put(path);
  for (const path of files) put(`home/${path}`);
  put("settings/copilot/permissions.json", '{"allow": ["read(/**)", "run_bash(cat *)"]}');
  const variables: Record<string, string> = {
    HOME: `${base}/home`,
    XDG_CONFIG_HOME: `${base}/settings`,
    XDG_STATE_HOME: `${base}/records`,
    PATH: "/usr/bin:/bin",
  };
  const opened = new Map<string, Permissions>();
  return {
    base,
    put,
    /** Decides a call in a folder of `base`, and runs it where that is allowed. */
    async call(
      workingDir: string,
      name: string,
      args: Record<string, unknown>,
      changed: Record<string, string | undefined> = {},
    ): Promise<Decision & { result?: string }> {
      const all: Record<string, string | undefined> = { ...variables, ...changed };
      const key = JSON.stringify(changed);
      const permissions = opened.get(key) ?? openPermissions({}, (name) => all[name]);
      opened.set(key, permissions);
      const tool = builtinTools.find((one) => one.name === name)!;
      const { signal } = new AbortController();
      const context = {
        workingDir: `${base}/${workingDir}`.replace(/\/$/, ""),
        maxOutputChars: 10_000,
        signal,
      };
      const decision = await permissions.policy(undefined).decide(tool, args, context);
      if (!decision.allow || tool.access === "execute") return decision;
      const within = { ...context, ...decision.grant && { grant: decision.grant } };
      const result = await Promise.resolve(tool.run(args, within)).catch(String);
      return { ...decision, result: contentOf(result) };
    },
    [Symbol.dispose]: () => Deno.removeSync(base, { recursive: true }),
  };
}

/** Every secret that the sandbox hides in a home folder, as files below it. */
const HIDDEN = PROTECTED_ROWS.filter(({ kind, paths }) =>
  kind === "secret" && !/^(\.git|\/proc)\//.test(paths)
)
  .flatMap(examplesOf).filter((example) => !example.startsWith("/"))
  .map((example) => example.replace(/^~\//, ""));

test("R-19 no hidden file is read unasked: by its relative path, its absolute one, with ~, by a command", async () => {
  using home = homeWith(HIDDEN);
  assert(HIDDEN.length > 100);
  const isAllowed = async (folder: string, name: string, args: Record<string, unknown>) =>
    (await home.call(folder, name, args)).allow;
  for (const path of HIDDEN) {
    const absolute = `${home.base}/home/${path}`;
    const allowed = [
      await isAllowed("home", "read_file", { file_path: path }),
      await isAllowed("work", "read_file", { file_path: `../home/${path}` }),
      await isAllowed("work", "read_file", { file_path: absolute }),
      await isAllowed("home", "read_file", { file_path: `~/${path}` }),
      await isAllowed("work", "run_bash", { command: `cat ${absolute}` }),
      await isAllowed("home", "run_bash", { command: `cat ~/${path}` }),
    ];
    assertEquals(allowed, Array(6).fill(false), path);
  }
  // Positive control.
  const plain = `${home.base}/home/plain.txt`;
  assertEquals(await isAllowed("home", "read_file", { file_path: "plain.txt" }), true);
  assertEquals(await isAllowed("work", "read_file", { file_path: plain }), true);
  assertEquals(await isAllowed("work", "run_bash", { command: `cat ${plain}` }), true);
});

test("R-19 no search finds a hidden file, wherever it begins", async () => {
  using home = homeWith(HIDDEN);
  for (const path of HIDDEN) {
    const folder = dirname(path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    for (const [from, at] of [["home", folder], ["work", `${home.base}/home/${folder}`]] as const) {
      const calls = [
        ["grep_code", { pattern: "TOKEN", path: at, glob: name, context_lines: 0 }],
        ["grep_code", { pattern: "TOKEN", path: at, glob: "", context_lines: 0 }],
        ["glob_files", { pattern: name, path: at }],
        ["grep_code", { pattern: "TOKEN", path: ".", glob: `**/${path}`, context_lines: 0 }],
      ] as const;
      for (const [tool, args] of calls) {
        const { result = "" } = await home.call(from, tool, args);
        const found = result.split("\n").filter((row) => row.split(":")[0]!.endsWith(name));
        assertEquals(found, [], `${tool} ${JSON.stringify(args)}`);
      }
    }
  }
  const { result } = await home.call("work", "grep_code", {
    ...{ pattern: "TOKEN", path: `${home.base}/home`, glob: "", context_lines: 0 },
  });
  assert(result?.includes("plain.txt:1:TOKEN"), result);
});

const SPELLINGS: [name: string, path: string][] = [
  ["upper case", ".CODEX/Auth.JSON"],
  ["a long s", ".\u017f\u017fh/id"],
  ["the Kelvin sign", ".\u212aube/config"],
  ["signs without width", ".s\u200bs\ufeffh/id"],
  ["doubled slashes", ".codex//auth.json"],
  ["dots", "./.codex/././auth.json"],
  ["a way up", "plain/../.codex/auth.json"],
  ["a slash at the end", ".codex/auth.json/"],
];
for (const [name, path] of SPELLINGS) {
  test(`R-19 another spelling of a secret is asked about: ${name}`, async () => {
    using home = homeWith([".codex/auth.json", ".ssh/id", ".kube/config"]);
    Deno.mkdirSync(`${home.base}/home/plain`);
    for (const file_path of [path, `${home.base}/home/${path}`, `${home.base}/home//./${path}`]) {
      assertEquals((await home.call("home", "read_file", { file_path })).allow, false, file_path);
    }
  });
}

test("R-19 a link to a secret is asked about, and so is the file behind a link that has its name", async () => {
  using home = homeWith([
    ".codex/auth.json",
    "dotfiles/gh/hosts.yml",
    "dotfiles/history",
    "dotfiles/key",
    "units/a",
  ]);
  const { base } = home;
  for (const folder of [".ssh", ".config/systemd/user"]) {
    Deno.mkdirSync(`${base}/home/${folder}`, { recursive: true });
  }
  Deno.symlinkSync("../dotfiles/key", `${base}/home/.ssh/work`);
  Deno.symlinkSync(`${base}/home/units/a`, `${base}/home/.config/systemd/user/a.service`);
  Deno.symlinkSync(`${base}/home/.codex/auth.json`, `${base}/work/file`);
  Deno.symlinkSync(`${base}/home/.codex`, `${base}/work/folder`);
  Deno.symlinkSync("folder", `${base}/work/again`);
  Deno.symlinkSync(`${base}/home/dotfiles/gh`, `${base}/home/.config/gh`);
  Deno.symlinkSync("dotfiles/history", `${base}/home/.bash_history`);
  Deno.symlinkSync("/dev/null", `${base}/home/.zsh_history`);
  const isRead = async (folder: string, file_path: string) =>
    (await home.call(folder, "read_file", { file_path })).allow;
  for (const path of ["file", "folder/auth.json", "again/auth.json", "again/../again/auth.json"]) {
    assertEquals(await isRead("work", path), false, path);
  }
  for (
    const path of [
      ".config/gh/hosts.yml",
      "dotfiles/gh/hosts.yml",
      "dotfiles/history",
      "dotfiles/key",
    ]
  ) {
    assertEquals(await isRead("home", path), false, path);
    const cat = await home.call("work", "run_bash", { command: `cat ${base}/home/${path}` });
    assertEquals(cat.allow, false, path);
  }
  const { result } = await home.call("home", "grep_code", {
    ...{ pattern: "TOKEN", path: "dotfiles", glob: "", context_lines: 0 },
  });
  assertEquals(result?.includes("TOKEN\n"), false, result);
  const paths = new PathTable({ home: `${base}/home` });
  assertEquals(paths.secretKind("/dev/null"), undefined);
  const kind = paths.protectedKind(`${base}/home/units/a`);
  assertEquals(kind, "a file that shells run at their start");
});

const HOMES: [name: string, home: (base: string) => string | undefined][] = [
  ["with a slash at its end", (base) => `${base}/home/`],
  ["with dots", (base) => `${base}/work/../home/.`],
  ["that is a link", (base) => `${base}/link`],
];
for (const [name, home] of HOMES) {
  test(`R-19 a home folder ${name} is that folder`, async () => {
    using made = homeWith([".gemini/oauth_creds.json", ".bundle/config"]);
    Deno.symlinkSync("home", `${made.base}/link`);
    const HOME = home(made.base);
    for (const path of [".gemini/oauth_creds.json", ".bundle/config"]) {
      for (const at of ["home", "link"]) {
        const args = { file_path: `${made.base}/${at}/${path}` };
        assertEquals((await made.call("work", "read_file", args, { HOME })).allow, false, at);
      }
      const view = makeView({
        ...{ folder: `${made.base}/work`, isWritable: false, network: false },
        paths: new PathTable({ home: HOME }),
        // Even where all of the home folder is opened to commands.
        read: [`${made.base}/home`],
      });
      assertEquals(accessAt(view, `${made.base}/home/${path}`), "hidden");
    }
  });
}

test("R-19 without a home folder, or with one that is no absolute path, most secrets are asked about", async () => {
  using home = homeWith([".codex/auth.json", ".bash_history", ".m2/settings.xml"]);
  for (const HOME of [undefined, "", ".", "home"]) {
    for (const path of [".codex/auth.json", ".bash_history", ".m2/settings.xml"]) {
      const file_path = `${home.base}/home/${path}`;
      const { allow } = await home.call("work", "read_file", { file_path }, { HOME });
      assertEquals(allow, false, `${HOME} ${path}`);
    }
  }
  const paths = new PathTable({ home: "." }, looksAt([]));
  assertEquals(
    paths.confinedSecrets().filter(({ path }) => !/^\/(etc|var\/lib)\//.test(path)),
    [],
  );
  const root = new PathTable({ home: "/" }, looksAt(["/.gemini/x"]));
  assertEquals([root.secretKind("/.gemini/x"), root.secretKind("/a/.gemini/x")], [
    "credentials of an agent",
    undefined,
  ]);
});

Deno.test({
  ...unix,
  name: "R-19 settings and records of this program are secret wherever variables put them",
  async fn() {
    using home = homeWith([]);
    home.put("records/copilot/sessions/one.jsonl");
    for (
      const file_path of ["settings/copilot/permissions.json", "records/copilot/sessions/one.jsonl"]
    ) {
      assertEquals((await home.call("", "read_file", { file_path })).allow, false, file_path);
    }
    const paths = new PathTable({ own: ["/data//copilot/", "/state/../x/copilot"] }, looksAt([]));
    for (const path of ["/data/copilot/config.json", "/x/copilot"]) {
      assertEquals(paths.secretKind(path), "a file of this program", path);
    }
  },
});

test("a home folder is known in both of the ways in which Unicode composes letters", () => {
  const paths = new PathTable({ home: "/home/jos\u00e9" }, looksAt([]));
  for (const home of ["/home/jos\u00e9", "/home/jose\u0301"]) {
    assert(paths.secretPattern.test(`${home}/.gemini/x`));
    assert(paths.secretKind(`${home}/.gemini/x`) !== undefined);
  }
});

test("a secret is known by its name alone, but for files that are there to be copied", () => {
  for (const path of ["/ws/.config//gh/x", "/ws/.config/././gh/x", "C:\\ws\\.config\\gh\\x"]) {
    assert(ANY_HOME.secretKind(path) !== undefined, path);
  }
  const secrets = [".env", ".env ", ".env.local", "prod.env", ".env.examples", "a.KEY"]
    .concat("id_rsa", "id_rsa.bak", "id_ed25519~", "id_rsa.pub.bak", ".vault_pass.txt");
  for (const name of secrets) {
    assert(ANY_HOME.secretKind(`/ws/${name}`) !== undefined, name);
  }
  for (
    const name of [
      ...[".env.example", ".env-sample", "example.env", "template.prod.env", ".environment"],
      ...["secrets.ts", "credentials/mod.ts", "id_rsa.pub", ".sshrc.d", "keys/readme", "a.keys"],
    ]
  ) assertEquals(ANY_HOME.secretKind(`/ws/${name}`), undefined, name);
});

test("R-19 no path takes long to look up", () => {
  const paths = new PathTable({ home: "/home/u" }, looksAt([]));
  for (
    const part of ["a", "/.git", "/.env", ".", "/", "/proc/task", "/a.pem.pem", "/.", "\u200b"]
  ) {
    const path = `/${part.repeat(1_000_000 / part.length)}x/`;
    const start = cpuTime();
    paths.secretKind(path);
    paths.protectedKind(path);
    paths.secretPattern.test(path);
    // Were the time quadratic, it would be hours.
    assert(cpuTime() - start < 20_000, part);
  }
});

test("R-19 what a link in the home folder leads to is protected as the link is", () => {
  const links: Record<string, string> = {
    "/home/u/.bashrc": "/home/u/dotfiles/bashrc",
    "/home/u/.config/fish": "/home/u/dotfiles/fish",
  };
  const list = (folder: string) => folder === "/home/u" ? [".bashrc", ".config", "dotfiles"] : [];
  const paths = new PathTable({ home: "/home/u" }, { realPath: (path) => links[path], list });
  const rows: [path: string, isProtected: boolean][] = [
    ["/home/u/dotfiles/bashrc", true],
    ["/home/u/dotfiles/fish/conf.d/new.fish", true],
    ["/home/u/dotfiles/README.md", false],
    ["/home/u/other/bashrc", false],
  ];
  for (const [path, isProtected] of rows) {
    assertEquals([path, paths.protectedKind(path) !== undefined], [path, isProtected]);
  }
});

test("R-19 a path is found by the piece that tells it, however its letters are written", () => {
  const target = "/home/u/cafe\u0301-and-restaurante\u0301/K.txt";
  const paths = new PathTable({ home: "/home/u", own: ["/srv/\u03a3\u03c2\u00e9"] }, {
    realPath: (path) => path === "/home/u/.netrc" ? target : undefined,
    list: (folder) => folder === "/home/u" ? [".NETRC"] : [],
  });
  const rows: [path: string, isSecret: boolean][] = [
    [target, true],
    [target.normalize(), true],
    [target.toUpperCase().replace("/HOME/U", "/home/u"), true],
    ["/srv/\u03c3\u03c3e\u0301/x", true],
    ["/ws/A.PEM", true],
    ["/ws/~/.bundle/config", true],
    ["/ws/.git/modules/a/CONFIG", true],
    ["/ws/.bundle/config", false],
    ["/srv/other", false],
  ];
  for (const [path, isSecret] of rows) {
    assertEquals([path, paths.secretKind(path) !== undefined], [path, isSecret]);
  }
});

Deno.test("the patterns of protected files have what the table promises, and no more", () => {
  const names = PROTECTED_ROWS.flatMap(({ paths }) => paths.split(/[\s/]+/));
  const bad = names.filter((name) => name.includes("?") || name !== "**" && /\*.*\*/.test(name));
  assertEquals(bad, []);
});

test("R-19 a home folder with signs that file systems pass over is that folder, too", () => {
  for (const home of ["/home/CORP\\u", "/home/a\u200bb", "/home/\u017fam"]) {
    const paths = new PathTable({ home }, looksAt([]));
    assertEquals(paths.secretKind(`${home}/.gemini/x`) !== undefined, true, home);
    assertEquals(paths.secretPattern.test(`${home}/.bundle/config`), true, home);
  }
});
