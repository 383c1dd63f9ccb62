import { attempt } from "../../../src/attempt.ts";
import { command } from "../../helpers/program.ts";
import { waitUntil } from "../../helpers/wait_until.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { localConfig } from "../../../src/config.ts";
import type { Approval, ApprovalAnswer } from "../../../src/safety/approval.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import type { PermissionChoice } from "../../../src/safety/choice.ts";
import type { SessionOptions } from "../../../src/session/extension.ts";
import { askedCall, printedText } from "../../../src/ui/acp/call_updates.ts";
import type { Frontend } from "../../../src/session/frontend.ts";
import { fakeSession } from "../../helpers/fake_session.ts";
import { test } from "../../helpers/git_repository.ts";
import { bash, strictServer, use } from "../../helpers/strict_server.ts";
import { within } from "../../../src/wire/wait.ts";
import { sharingSystem } from "../../helpers/system_secrets.ts";

const never = new AbortController().signal;
const work = (task: string, agent = "coder") => use("explore", { task, agent });
const write = (file_path: string, content: string) => use("write_file", { file_path, content });
const CODER = "---\nname: coder\ndescription: Writes\nisolation: worktree\n---\nYou write code.\n";

/** A repository with one commit, and changes since. */
async function repository({ commit = true, git = true } = {}) {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const [folder, home] = [`${root}/repo`, `${root}/home`];
  const sh = async (line: string) => {
    const { stdout, stderr, success } = await new Deno.Command("sh", {
      args: ["-ec", line],
      cwd: folder,
      clearEnv: true,
      env: { HOME: home, PATH: Deno.env.get("PATH")! },
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  for (const at of [folder, `${home}/.config/copilot/agents`]) {
    await Deno.mkdir(at, { recursive: true });
  }
  await Deno.writeTextFile(`${home}/.gitconfig`, "[user]\nname = Ann\nemail = a@b.c\n");
  await Deno.writeTextFile(`${home}/.config/copilot/agents/coder.md`, CODER);
  if (git) await sh("git init -qb main .");
  await sh(
    "printf 'one\\ntwo\\n' >a.txt; echo b >b.txt; echo out >.gitignore; mkdir out; echo x >out/x",
  );
  if (git && commit) await sh("git add . && git commit -qm 'the first'");
  await sh("echo changed >b.txt; echo new >new.txt; echo KEY=1 >.env");
  const variables: Record<string, string> = { HOME: home, PATH: Deno.env.get("PATH")! };
  return {
    root,
    folder,
    sh,
    text: (name: string) => Deno.readTextFileSync(`${folder}/${name}`),
    state: () =>
      sh("git status --porcelain; git worktree list | wc -l; git branch -a; git stash list"),
    async open(
      url: string,
      frontend: Partial<Frontend> = {},
      choice: PermissionChoice = { approve: "auto", sandbox: "workspace-write" },
      options: Partial<SessionOptions> = {},
    ) {
      const permissions = openPermissions(choice, (name) => variables[name]);
      sharingSystem(permissions.looks);
      return await fakeSession(url, {
        folder,
        permissions,
        readsFolder: true,
        config: { local: localConfig({ host: url, model: "test", useCompat: true }) },
        ...options,
      }, frontend);
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

/** Answers all questions, and keeps them. */
function answering(answer: ApprovalAnswer = { choice: "once" }) {
  const asked: Approval[] = [];
  const approve = (approval: Approval) => {
    asked.push(approval);
    return Promise.resolve(answer);
  };
  return { asked, approve };
}

type Sent = { role: string; content: string }[];
const lastOf = ({ requests }: Awaited<ReturnType<typeof strictServer>>, at: number) =>
  (requests.at(at)!.body.messages as Sent).at(-1)!.content;
const EMPTY = (request: { body: Record<string, unknown> }) => {
  const isSubAgent = (request.body.messages as Sent)[1]!.content.includes("sub-agent");
  return { text: isSubAgent ? "" : "Done." };
};
test("worktrees: a sub-agent sees uncommitted changes, and a yes applies its own as edits that /undo takes back", async () => {
  await using at = await repository();
  await at.sh(
    "mkdir -p node_modules/x; echo packed >node_modules/p; echo node_modules >>.gitignore; " +
      "echo SECRET | tee node_modules/x/.env >node_modules/denied",
  );
  const settings = `${at.root}/home/.config/copilot/permissions.json`;
  await Deno.writeTextFile(settings, '{"deny": ["read_file(node_modules/denied)"]}');
  await using server = strictServer([
    work(`In ${at.folder}/b.txt, change b`),
    bash(
      "cat b.txt new.txt; grep -rhs . node_modules/; ls -A; git log --oneline --format=%s; git status --short",
    ),
    bash(`pwd; echo 2 >a.txt; touch ${at.folder}/z node_modules/z`),
    write("made/c.sh", "c\n"),
    bash(
      "rm new.txt; chmod 777 made/c.sh; printf '\\377' >bin; ln -s a.txt link; " +
        "git checkout -qb mine && git add -A && git commit -qm mine; git log --format=%s",
    ),
    { text: "Done in it." },
    { text: "Done." },
  ]);
  const { asked, approve } = answering();
  await using fake = await at.open(server.url, { approve });
  const before = await at.state();
  const { toolExecutions: [exec] } = await fake.session.prompt("hi", never);
  const told = lastOf(server, 1);
  assertMatch(told, /copy of the user's folder.*In (\S+)\/repo\/b\.txt, change b$/s);
  assertEquals(told.includes(at.folder), false);
  assertStringIncludes(
    lastOf(server, 2),
    "changed\nnew\npacked\n.git\n.gitignore\na.txt\nb.txt\nnew.txt\nnode_modules\nthe first\n M .gitignore\n M b.txt\n?? new.txt",
  );
  assertMatch(lastOf(server, 3), /cannot touch 'node_modules\/z'/);
  assertStringIncludes(lastOf(server, 5), "mine\nthe first");
  assertEquals(
    exec!.result,
    "Done in it.\n\n[Its changes were applied to the folder: a.txt, bin, made/c.sh, new.txt. " +
      "Links and large files are left out: link.]",
  );
  assertEquals(asked.length, 1);
  assertEquals([asked[0]!.subject.task, asked[0]!.subAgent], ["4 files", "coder"]);
  assertEquals(asked[0]!.previews!.map(({ path, isNew }) => [path, isNew]), [
    ["a.txt", false],
    ["bin", true],
    ["made/c.sh", true],
    ["new.txt", false],
  ]);
  assertEquals(asked[0]!.preview!.lines!.map(({ kind, text }) => kind + text), [
    ...[" ── a.txt", "-one", "-two", "+2", " ── bin new not shown"],
    ...[" ── made/c.sh new", "+c", " ── new.txt removed", "-new"],
  ]);
  const rows = ["── a.txt", "── bin new not shown", "── made/c.sh new", "── new.txt removed"];
  assertEquals(askedCall(asked[0]!, at.folder).content![0], printedText(rows.join("\n")));
  assertEquals([at.text("a.txt"), at.text("made/c.sh")], ["2\n", "c\n"]);
  assertEquals(await at.sh("ls"), "a.txt\nb.txt\nbin\nmade\nnode_modules\nout\n");
  await fake.command("/undo");
  assertEquals([at.text("a.txt"), at.text("new.txt")], ["one\ntwo\n", "new\n"]);
  await at.sh("rmdir made");
  assertEquals(await at.state(), before);
});

/** A server with slots, in front of another. */
function withSlots(url: string, slots: number) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/props") return Response.json({ total_slots: slots });
    if (pathname === "/slots") {
      return Response.json(Array.from({ length: slots }, (_, id) => ({ id, id_task: id })));
    }
    const { method, headers } = request;
    // The strict server has no slots.
    const body = (await request.text()).replace(/"id_slot":\d+,?|,"id_slot":\d+/, "");
    const sent = method === "POST" ? { body } : {};
    const { "content-type": type = "" } = Object.fromEntries(headers);
    return await fetch(url + pathname, { method, headers: { "content-type": type }, ...sent });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

test("worktrees: two at once do not see each other, and of the second nothing is applied after a conflict", async () => {
  await using at = await repository();
  const seen: string[] = [];
  const isOpen = Promise.withResolvers<void>();
  const inWorktree = ({ body }: { body: Record<string, unknown> }) => {
    const messages = body.messages as Sent;
    const name = /Task (\w)$/.exec(messages[1]!.content)?.[1] ?? JSON.stringify(messages);
    return { name, messages };
  };
  const first = async (request: { body: Record<string, unknown> }) => {
    const { name } = inWorktree(request);
    if (seen.push(name) === 2) isOpen.resolve();
    await within(20_000, isOpen.promise);
    return bash(`echo ${name} >a.txt; echo ${name} >${name}.txt; ls -d ../../*/repo/b.txt; pwd`);
  };
  const second = (request: { body: Record<string, unknown> }) => {
    const { name, messages } = inWorktree(request);
    seen.push(messages.at(-1)!.content);
    return { text: `${name} is done.` };
  };
  await using server = strictServer([
    { toolCalls: [...work("Task c").toolCalls, ...work("Task d").toolCalls] },
    ...[first, first, second, second],
    { text: "Done." },
  ]);
  await using front = withSlots(server.url, 3);
  const { asked, approve } = answering();
  await using fake = await at.open(front.url, { approve });
  const { toolExecutions } = await fake.session.prompt("hi", never);
  assertEquals(seen.slice(0, 2).sort(), ["c", "d"]);
  const folders = seen.slice(2).map((output) => /^\/\S+\/tree\/repo$/m.exec(output)![0]);
  assertEquals(new Set(folders).size, 2);
  assertEquals(seen.slice(2).map((output) => output.match(/b\.txt/g)?.length), [1, 1]);
  const results = toolExecutions.map(({ result }) => result);
  const [applied, lost] = results[0]!.includes("were applied to") ? results : results.toReversed();
  assertMatch(applied!, /applied to the folder: a\.txt, (c|d)\.txt\.\]$/);
  assertMatch(
    lost!,
    /None of its changes were applied.*changed in the folder meanwhile: a\.txt\.\]/,
  );
  const winner = /applied to the folder: a\.txt, (c|d)/.exec(applied!)![1]!;
  assertEquals(asked.length, 1);
  assertEquals(at.text("a.txt"), `${winner}\n`);
  assertEquals(await at.sh("ls [cd].txt"), `${winner}.txt\n`);
});

test("worktrees: a no drops all, nothing changed asks nothing, and no answer loses no change", async () => {
  await using at = await repository();
  // In the user's folder, git has files where there is a link now.
  await at.sh("mkdir -p l/deep ../outside; echo >l/deep/f; git add l; git commit -qm l; rm -r l");
  await at.sh('ln -s "$PWD/../outside" l');
  await using server = strictServer([
    ...[work("One"), bash("echo no >a.txt"), { text: "One." }],
    ...[work("Two"), bash("touch a.txt; mkdir out; touch out/y"), { text: "Two." }],
    ...[work("Three"), bash("echo 3 >three"), EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY],
  ]);
  const { asked, approve } = answering({ choice: "refuse", reason: "later" });
  await using fake = await at.open(server.url, { approve });
  const before = await at.state();
  const { toolExecutions } = await fake.session.prompt("hi", never);
  const [no, nothing, unanswered] = toolExecutions.map(({ result }) => result);
  assertMatch(no!, /The user said no to its changes, and they are gone: a\.txt\. later\]$/);
  assertMatch(nothing!, /^Two\.\n\n\[It changed no files\.\]$/);
  assertMatch(unanswered!, /^It gave no answer\.\n\n\[The user said no.*three/);
  assertEquals([asked.length, await at.state()], [2, before]);
  // The copy is not made through the copied link.
  assertEquals(await at.sh("ls ../outside"), "");
});

test("worktrees: without a user, the rules about edits decide, and no call leads out of the worktree", async () => {
  for (
    const [choice, applied, deny = []] of [
      [{ prefersAuto: "workspace-write" }, true],
      [{ approve: "ask", sandbox: "workspace-write", yes: true }, true],
      [{ approve: "ask", sandbox: "workspace-write" }, false],
      [{ approve: "auto", sandbox: "workspace-write" }, false, ["write(b.txt)"]],
    ] as [PermissionChoice, boolean, string[]?][]
  ) {
    await using at = await repository();
    const rules = { deny, allow: [`write(${at.folder}/out/**)`, "run_bash(touch *)"] };
    await Deno.writeTextFile(
      `${at.root}/home/.config/copilot/permissions.json`,
      JSON.stringify(rules),
    );
    await using server = strictServer([
      work("One"),
      use("edit_file", { file_path: "b.txt", old_string: "changed", new_string: "mine" }),
      write(`${at.folder}/out/real`, "x"),
      use("run_bash", {
        command: `touch ${at.folder}/out/real`,
        leave: "sandbox",
        reason: "I must",
      }),
      bash(`touch ${at.folder}/out/real || git push; git config core.pager x; ls -a ${at.folder}`),
      { text: "One." },
      { text: "Done." },
    ]);
    await using fake = await at.open(server.url, {}, choice);
    const { toolExecutions: [exec] } = await fake.session.prompt("hi", never);
    const { calls } = exec!.details!;
    const outcomes = calls!.map(({ outcome }) => outcome);
    const first = deny.length > 0 ? "refused" : "done";
    assertEquals(outcomes, [first, "refused", "refused", "refused"]);
    assertMatch(lastOf(server, 5), /would leave the sub-agent's worktree/);
    assertEquals(at.text("b.txt"), applied ? "mine\n" : "changed\n");
    assertEquals(await at.sh("ls out"), "x\n");
  }
});

test("worktrees: what has no commit, no repository, submodules or no sandbox gets one line and no sub-agent", async () => {
  const rows: [string, Parameters<typeof repository>[0], PermissionChoice | undefined, RegExp][] = [
    ["", { git: false }, undefined, /as it is in no repository of git$/],
    ["", { commit: false }, undefined, /as it has no commit yet$/],
    ["", {}, { approve: "auto", sandbox: "off" }, /as it has no sandbox for commands$/],
    [
      "git clone -q . sub && git -c protocol.file.allow=always submodule --quiet add ./sub sub",
      ...[{}, undefined, /as it has submodules$/] as const,
    ],
    ["truncate -s 100M large", {}, undefined, /as it is too large$/],
    [
      "mv .git/objects ../hidden; ln -s $HOME/../hidden .git/objects",
      {},
      undefined,
      /hidden repository$/,
    ],
  ];
  for (const [line, made, choice, reason] of rows) {
    await using at = await repository(made);
    if (line) await at.sh(line);
    await using server = strictServer([work("One"), { text: "Done." }]);
    await using fake = await at.open(server.url, answering(), choice);
    const { toolExecutions: [exec] } = await fake.session.prompt("hi", never);
    assertEquals(exec!.outcome, "failed");
    assertMatch(exec!.result, reason);
  }
});

test("worktrees: after kill -9, the repository is as before, and a later run removes the copy", async () => {
  await using at = await repository();
  const temp = `${at.root}/home/.local/state/copilot-tmp`;
  const before = await at.state();
  await using server = strictServer([
    ...[work("One"), bash("echo 1 >a.txt; git branch other"), { hang: true, text: "" }],
    ...[work("One"), { text: "One." }, { text: "Done." }],
  ]);
  const started = () =>
    command(["-p", "hi", "--yes", "--local", "--host", server.url, "--model", "test"], {
      cwd: at.folder,
      env: { HOME: `${at.root}/home`, XDG_CONFIG_HOME: `${at.root}/home/.config` },
    }).spawn();
  const trees = () => [...Deno.readDirSync(temp)].map(({ name }) => `${temp}/${name}`);
  const first = started();
  await waitUntil(() => server.requests.length === 3);
  const left = trees().filter((path) => Deno.lstatSync(path).isDirectory);
  const texts = left.map((path) => attempt(() => Deno.readTextFileSync(`${path}/tree/repo/a.txt`)));
  assertEquals(texts.includes("1\n"), true);
  first.kill("SIGKILL");
  await first.output();
  assertEquals([await at.state(), at.text("a.txt")], [before, "one\ntwo\n"]);
  for (const path of left) await Deno.utime(path, new Date(), new Date(Date.now() - 3_600_000));
  assertEquals((await started().output()).code, 0);
  await waitUntil(() => !trees().some((path) => left.includes(path)));
  assertEquals(await at.state(), before);
});

test("worktrees: files that together make a folder a repository of git are asked about, and a no restores all", async () => {
  await using at = await repository();
  await at.sh("mkdir -p bare/objects");
  await using server = strictServer([
    ...[work("One"), bash("mkdir -p bare/refs; cd bare; echo 'ref: x' >HEAD; touch refs/a config")],
    ...[{ text: "One." }, { text: "Done." }],
  ]);
  const asked: Approval[] = [];
  const approve = (approval: Approval): Promise<ApprovalAnswer> => {
    const isFirst = asked.push(approval) === 1;
    return Promise.resolve(isFirst ? { choice: "once" } : { choice: "refuse", reason: "" });
  };
  await using fake = await at.open(server.url, { approve });
  const before = await at.state();
  const { toolExecutions: [exec] } = await fake.session.prompt("hi", never);
  assertEquals(asked.map(({ subject }) => subject.path), [undefined, "bare/config"]);
  assertMatch(asked[1]!.reason, /a part of a repository of git/);
  assertMatch(exec!.result, /None of its changes were applied.*bare\/config may not be written/);
  assertEquals(await at.state(), before);
});
