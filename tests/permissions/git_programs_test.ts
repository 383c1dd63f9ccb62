import { assertEquals } from "@std/assert";
import { gitPrograms } from "../../src/permissions/git_programs.ts";
import { placeOf } from "../../src/permissions/places.ts";
import { decide, rulesFor } from "../../src/permissions/policy.ts";
import { PathTable } from "../../src/permissions/path_table.ts";
import { parseKept, parseRule } from "../../src/permissions/rules.ts";
import type { PolicyCall, Settings } from "../../src/permissions/settings.ts";
import { makeView } from "../../src/permissions/view.ts";
import * as analysis from "../../src/permissions/shell/mod.ts";

const ignore = Deno.build.os === "windows";

/** A repository as `git init` leaves it, with further files by their paths: those that end in `!` can be run. */
async function repository(files: Record<string, string> = {}) {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [home, folder] = [`${base}/home`, `${base}/work`];
  const plain: Record<string, string> = {
    "work/.git/HEAD": "ref: refs/heads/main\n",
    "work/.git/config":
      '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote "origin"]\n' +
      '\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n',
    "work/.git/objects/x": "",
    "work/.git/hooks/pre-commit.sample!": "",
    "home/.gitconfig": '[user]\n\tname = A\n[filter "lfs"]\n\tclean = git-lfs clean -- %f\n' +
      "\trequired = true\n[alias]\n\tst = status\n",
  };
  for (const [name, text] of Object.entries({ ...plain, ...files })) {
    const path = `${base}/${name.replace(/!$/, "")}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, text);
    if (name.endsWith("!")) await Deno.chmod(path, 0o755);
  }
  return {
    folder,
    home,
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

/** A chain of so many files that the person's settings include; the last one names a program. */
const included = (files: number) =>
  Object.fromEntries(
    Array.from({ length: files + 1 }, (_, i) => [
      i === 0 ? "home/.gitconfig" : `home/f${i}`,
      i === files ? "[core]\nfsmonitor = ./x\n" : `[include]\npath = ~/f${i + 1}\n`,
    ]),
  );

Deno.test({
  name: "R-03 what git runs beside itself: hooks, and what settings name, of any level",
  ignore,
  async fn() {
    const config = (text: string) => ({ "work/.git/config": text });
    const rows: [files: Record<string, string>, withHooks: unknown, without: unknown][] = [
      [{}, undefined, undefined],
      [{ "work/.git/hooks/pre-commit!": "" }, "hooks", undefined],
      // One that cannot be run is none.
      [{ "work/.git/hooks/pre-commit": "" }, undefined, undefined],
      [{ "work/.git/hooks/post-index-change!": "" }, "hooks", "hooks"],
      [
        { ...config("[core]\nhooksPath = .husky/_\n"), "work/.husky/_/pre-commit!": "" },
        "hooks",
        undefined,
      ],
      [config("[core]\nhooksPath = .husky/_\n"), undefined, undefined],
      [
        { "home/.gitconfig": '[core] hooksPath = "~/hooks"\n', "home/hooks/x!": "" },
        "hooks",
        undefined,
      ],
      [{ "home/.gitconfig": '[hook "lint"]\ncommand = x\n' }, "hooks", undefined],
      [config("[core]\n\tfsmonitor = true\n"), undefined, undefined],
      [config("[core] fsmonitor\n"), undefined, undefined],
      [config("[core]\nfsmonitor = truer\n"), "settings", "settings"],
      [config("[merge]\ndriver = git-lfs x\n"), "settings", "settings"],
      [config("; x\n# y\n\n[branch.main]\nremote = x\n[user] name = A\n"), undefined, undefined],
      [config("[core]\nabbrev = 4\\\n"), "settings", "settings"],
      [config("[core]\n= 4\n"), "settings", "settings"],
      [config(""), undefined, undefined],
      [{ "work/.git/config.worktree": "[core]\nfsmonitor = ./x\n" }, "settings", "settings"],
      // A person's own settings that name a program which may run files of the folder, and others.
      [{ "home/.gitconfig": "[core]\nfsmonitor = true\n" }, undefined, undefined],
      [{ "home/.config/git/config": "[core]\nfsmonitor = ./x\n" }, "settings", "settings"],
      [{ "home/.gitconfig": "[core]\npager = less\neditor = vi\n" }, undefined, undefined],
      // Files that include each other, and as many as are followed.
      [
        {
          "home/.gitconfig": "[include]\npath = ~/a\n",
          "home/a": "[include]\npath = .gitconfig\n[core]\nfsmonitor = ./x\n",
        },
        "settings",
        "settings",
      ],
      [included(20), "settings", "settings"],
      [included(21), undefined, undefined],
      [config("[core]\n\tfsmonitor = ./watch\n"), "settings", "settings"],
      [config('[filter "x"] clean = ./x\n'), "settings", "settings"],
      [config('[filter "lfs"]\nprocess = git-lfs filter-process\n'), undefined, undefined],
      [config('[merge "x"]\ndriver = ./x\n'), "settings", "settings"],
      [config("[include]\npath = ../shared\n"), "settings", "settings"],
      [config("[alias]\nx = !./x\n"), "settings", "settings"],
      // What is not understood, or too large to be read, may name anything.
      [config("[core\nhooksPath = x\n"), "settings", "settings"],
      [config(`${"# x\n".repeat(30_000)}`), "settings", "settings"],
      [{ "home/.gitconfig": '[diff "x"]\ntextconv = python -m x\n' }, "settings", "settings"],
      [
        {
          "home/.gitconfig": '[includeIf "gitdir:~/work/"]\n\tpath = more\n',
          "home/more": "[core]\nfsmonitor = ./x\n",
        },
        "settings",
        "settings",
      ],
      // A folder that git takes for a repository, beside `.git` or without it.
      [
        { "work/HEAD": "", "work/objects/x": "", "work/config": "[core]\nfsmonitor = x" },
        "settings",
        "settings",
      ],
    ];
    for (const [files, withHooks, without] of rows) {
      await using at = await repository(files);
      const found = [true, false].map((runsHooks) => gitPrograms(at.folder, runsHooks, at.home));
      assertEquals(found, [withHooks, without], JSON.stringify(files).slice(0, 200));
      await Deno.mkdir(`${at.folder}/a/b`, { recursive: true });
      assertEquals(gitPrograms(`${at.folder}/a/b`, true, at.home), withHooks);
    }
  },
});

Deno.test({
  name: "R-03 a .git file is followed where git tied it to its folder, and trusted nowhere else",
  ignore,
  async fn() {
    await using at = await repository({
      "work/.git/worktrees/w/HEAD": "",
      "work/.git/worktrees/w/commondir": "../..\n",
      "other/.git": "gitdir: ../work/.git/worktrees/w\n",
    });
    const other = at.folder.replace(/work$/, "other");
    assertEquals(gitPrograms(other, true, at.home), "settings");
    await Deno.writeTextFile(`${at.folder}/.git/worktrees/w/gitdir`, `${other}/.git\n`);
    assertEquals(gitPrograms(other, true, at.home), undefined);
    await Deno.writeTextFile(`${at.folder}/.git/hooks/pre-push`, "", { mode: 0o755 });
    assertEquals(gitPrograms(other, true, at.home), "hooks");
  },
});

Deno.test({
  name: "R-03 a rule for a beginning of git's commands does not cover the hooks of a repository",
  ignore,
  async fn() {
    const bash = (command: string): PolicyCall => ({
      tool: { name: "run_bash", access: "execute" },
      command,
    });
    const HOOKS = "the hooks of this repository";
    for (const isConfined of [true, false]) {
      const judged = async (files: Record<string, string>, command: string, rule?: string) => {
        await using at = await repository(files);
        const { folder, home } = at;
        const settings: Settings = {
          ...{
            approve: isConfined ? "auto" : "ask",
            sandbox: "workspace-write",
            hasBash: () => true,
          },
          paths: new PathTable({ home }),
          rules: rule === undefined ? [] : [parseRule("allow", rule)],
          ...isConfined && {
            view: () => ({
              ...{ folder, network: false, isComplete: true },
              places: new Map([[folder, "write"]]),
            }),
          },
        };
        const place = (path: string) => placeOf(folder, path);
        const { effect, reason } = decide(bash(command), settings, place, analysis);
        const offered = rulesFor(bash(command), settings, place, analysis);
        return [effect, reason.includes(HOOKS), offered.map(({ rule }) => rule).join(" ")];
      };
      const hooks = { "work/.git/hooks/pre-commit!": "" };
      const [commit, add] = ["run_bash(git commit *)", "run_bash(git add *)"];
      assertEquals(await judged({}, "git commit -m x"), ["ask", false, commit]);
      assertEquals(await judged({}, "git commit -m x", commit), ["allow", false, ""]);
      // With hooks, the rule is neither offered nor heeded; the words say why.
      assertEquals(await judged(hooks, "git commit -m x"), ["ask", true, ""]);
      for (const rule of [commit, "run_bash(git commit -m x)"]) {
        assertEquals(await judged(hooks, "git commit -m x", rule), ["ask", true, ""], rule);
      }
      assertEquals((await judged(hooks, "git add a && git commit -m x", add)).slice(0, 2), [
        "ask",
        true,
      ]);
      // The part that no rule covers gives the reason, wherever it stands.
      assertEquals((await judged(hooks, "git add a && git commit -m x"))[1], true);
      assertEquals((await judged(hooks, "cd . && git -C . commit -m x", commit))[0], "ask");
      assertEquals((await judged(hooks, "git --git-dir=x add a", add))[0], "ask");
      // What runs no hooks is covered as ever, and so is all where the person allowed all.
      assertEquals(await judged(hooks, "git add a", add), ["allow", false, ""]);
      assertEquals((await judged(hooks, "git commit -m x", "run_bash"))[0], "allow");
    }
  },
});

Deno.test({
  name: "R-03 nor what a job may change, nor repositories in the folder that name programs",
  ignore,
  async fn() {
    const judged = async (
      files: Record<string, string>,
      command: string,
      more: Partial<Settings>,
    ) => {
      await using at = await repository(files);
      const { folder, home } = at;
      const paths = new PathTable({ home });
      const settings: Settings = {
        ...{ approve: "auto", sandbox: "workspace-write", hasBash: () => true, paths },
        rules: ["run_bash(git add *)", "run_bash(git status *)"].map((rule) =>
          parseRule("allow", rule)
        ),
        view: () => makeView({ folder, isWritable: true, network: false, paths }),
        ...more,
      };
      const call: PolicyCall = {
        ...{ tool: { name: "run_bash", access: "execute" }, command },
        ...command.startsWith("git status") && { leave: "sandbox", reason: "" },
      };
      return decide(call, settings, (path) => placeOf(folder, path), analysis).effect;
    };
    const sub = { "work/sub/x": "" };
    const nested = (config: string) => ({
      "work/sub/.git/HEAD": "ref: refs/heads/main",
      "work/sub/.git/objects/x": "",
      "work/sub/.git/config": config,
    });
    for (const command of ["git add a", "git status"]) {
      assertEquals(await judged(nested("[core]\n\tbare = false\n"), command, {}), "allow");
      assertEquals(await judged(nested("[core]\n\tfsmonitor = ./x\n"), command, {}), "ask");
      assertEquals(await judged({}, command, { hasJobs: true }), "allow");
    }
    // A job may make `sub/.git` between the look and the start.
    assertEquals(await judged(sub, "cd sub && git add a", {}), "allow");
    assertEquals(await judged(sub, "cd sub && git add a", { hasJobs: true }), "ask");
  },
});

Deno.test({
  name: "R-14 what was allowed in the sandbox is not allowed outside of it",
  ignore,
  async fn() {
    await using at = await repository();
    const { folder, home } = at;
    const paths = new PathTable({ home });
    const place = (path: string) => placeOf(folder, path);
    const settings: Settings = {
      ...{ approve: "ask", sandbox: "workspace-write", hasBash: () => true, paths, rules: [] },
      view: () => makeView({ folder, isWritable: true, network: false, paths }),
    };
    const call: PolicyCall = {
      ...{ tool: { name: "run_bash", access: "execute" }, command: "python3 -m unittest a" },
    };
    const [kept] = rulesFor(call, settings, place, analysis);
    assertEquals([kept?.rule, kept?.confined], ["run_bash(python3 -m unittest *)", true]);
    const rules = [parseKept(kept!)];
    const effectOf = (call: PolicyCall, more: Partial<Settings> = {}) =>
      decide(call, { ...settings, rules, ...more }, place, analysis).effect;
    assertEquals(effectOf(call), "allow");
    assertEquals(effectOf({ ...call, leave: "sandbox" }), "ask");
    assertEquals(effectOf({ ...call, command: "git add a && python3 -m unittest a" }), "ask");
    const { view: _, ...unconfined } = settings;
    assertEquals(decide(call, { ...unconfined, rules }, place, analysis).effect, "ask");
    // Allowed where nothing confined it, or because it leaves the sandbox, a rule says so of itself.
    assertEquals(rulesFor(call, unconfined, place, analysis)[0]?.confined, undefined);
    const commit = { ...call, command: "git commit -m x" };
    assertEquals(rulesFor(commit, settings, place, analysis)[0]?.confined, undefined);
  },
});

Deno.test({
  name: "R-14 a rule covers no program outside of the sandbox that commands may have written",
  ignore,
  async fn() {
    const judged = async (
      files: Record<string, string>,
      command: string,
      more: Partial<Settings> & { leave?: "sandbox" } = {},
    ) => {
      await using at = await repository({ "work/bin/other!": "", ...files });
      const { folder, home } = at;
      const { leave, ...settings } = more;
      const paths = new PathTable({ home });
      const call: PolicyCall = {
        ...{ tool: { name: "run_bash", access: "execute" }, command, ...leave && { leave } },
      };
      const { effect, reason } = decide(
        call,
        {
          ...{ approve: "auto", sandbox: "workspace-write", hasBash: () => true, paths },
          rules: ["run_bash(git add *)", "run_bash(tool *)"].map((rule) =>
            parseRule("allow", rule)
          ),
          programs: [`${folder}/bin`, "/usr/bin"],
          view: () => makeView({ folder, isWritable: true, network: false, paths }),
          ...settings,
        },
        (path) => placeOf(folder, path),
        analysis,
      );
      return effect === "ask" ? reason.match(/bin\/[\w-]+/)?.[0] ?? "ask" : effect;
    };
    const leave = "sandbox";
    assertEquals(await judged({}, "git add a"), "allow");
    assertEquals(await judged({ "work/bin/git!": "" }, "git add a"), "bin/git");
    assertEquals(await judged({ "work/bin/git-lfs!": "" }, "git add a"), "bin/git-lfs");
    assertEquals(await judged({}, "git add a", { hasJobs: true }), "bin/git");
    assertEquals(await judged({}, "tool a", { leave }), "allow");
    assertEquals(await judged({ "work/bin/tool!": "" }, "tool a", { leave }), "ask");
    // In the sandbox, and where there is none, it is a program as any other.
    assertEquals(await judged({ "work/bin/tool!": "" }, "tool a"), "allow");
  },
});
