import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { Confirmation } from "../../../src/session/frontend.ts";
import { placesWith } from "../../helpers/places.ts";
import { bash, strictServer, use } from "../../helpers/strict_server.ts";
import { waitUntil } from "../../helpers/wait_until.ts";

const never = new AbortController().signal;

/** A folder and a home of their own; hooks write what they read to `notes`. */
async function places() {
  const at = await placesWith();
  return {
    ...at,
    own: (hooks: unknown) => at.put("home/.config/copilot/hooks.json", hooks),
    brings: (hooks: unknown) => at.put("repo/.claude/settings.json", { permissions: {}, hooks }),
    notes: async () =>
      (await Deno.readTextFile(`${at.root}/notes`).catch(() => "")).trim().split("\n")
        .filter(Boolean).map((line) => JSON.parse(line)),
  };
}

const hook = (command: string, matcher?: string, more = {}) => [
  { ...matcher !== undefined && { matcher }, hooks: [{ type: "command", command, ...more }] },
];

Deno.test("hooks: six moments get their JSON on stdin", async () => {
  await using at = await places();
  const note = `cat >> ${at.root}/notes; echo >> ${at.root}/notes`;
  const isSecond = `grep -q '"stop_hook_active":true' ${at.root}/notes`;
  const hooks = {
    SessionStart: hook(`${note}; echo from the start`, "startup"),
    UserPromptSubmit: hook(`${note}; echo from the prompt`),
    PreToolUse: hook(note, "Read|Bash"),
    PostToolUse: hook(`${note}; echo 'look again' >&2; exit 2`, "Read"),
    Stop: hook(`${note}; ${isSecond} || { echo more >&2; exit 2; }`),
    SessionEnd: hook(note),
    WorktreeCreate: hook("exit 1"),
  };
  await at.own({ hooks });
  await Deno.writeTextFile(`${at.folder}/a.txt`, "text of a\n");
  await Deno.mkdir(`${at.folder}/.agents`);
  await Deno.writeTextFile(`${at.folder}/.agents/hooks.json`, "{");
  await using server = strictServer([
    use("read_file", { file_path: "a.txt" }),
    { text: "done" },
    { text: "really done" },
  ]);
  {
    await using fake = await at.open(server.url);
    const { response, toolExecutions } = await fake.session.prompt("hi", never);
    assertEquals([response, toolExecutions.length], ["really done", 1]);
    assertStringIncludes(fake.notices().join("\n"), "/.agents/hooks.json, line 1, column 2: it is");
    assertEquals(fake.notices().slice(-2), [
      "a hook objects to read_file: look again",
      "a hook continues the turn: more",
    ]);
  }
  const notes = await at.notes();
  assertEquals(notes.map(({ hook_event_name }) => hook_event_name), [
    ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "Stop"],
    "SessionEnd",
  ]);
  const [start, prompt, pre, post] = notes;
  assertEquals([start.source, start.cwd, start.permission_mode, prompt.prompt], [
    ...["startup", at.folder, "default", "hi"],
  ]);
  const input = { file_path: `${at.folder}/a.txt`, offset: 1, limit: 2000 };
  assertEquals([pre.tool_name, pre.tool_input], ["Read", input]);
  assertMatch(post.tool_response.content, /text of a/);
  const sent = server.requests.map(({ body }) => body.messages as { content: string }[]);
  assertEquals(sent[0]![1]!.content, "from the start\n\nhi\n\nfrom the prompt");
  assertStringIncludes(sent[1]!.at(-1)!.content, "[A hook says: look again]");
  assertEquals(sent[2]!.at(-1)!.content, "[A hook says: more]");
});

Deno.test("hooks: after an allowing hook, the model does not read that the user can be asked", async () => {
  const limit = "exec 3<>/dev/tcp/192.0.2.1/80";
  await using at = await places();
  await at.own({ PreToolUse: hook(decides("allow")) });
  const leaving = { command: `touch ${at.root}/left`, leave: "sandbox", reason: "I must" };
  const networked = { command: `bash -c 'touch ${at.folder}/networked'`, leave: "network" };
  await using server = strictServer([
    bash(`bash -c '${limit}'`),
    use("run_bash", leaving),
    use("run_bash", { ...networked, reason: "I must" }),
    { text: "done" },
  ]);
  const permissions = at.permissions({ approve: "auto", sandbox: "workspace-write" });
  if ((await permissions.sandboxStatus(at.folder)).by !== "bubblewrap") return;
  await using fake = await at.open(server.url, { permissions });
  const { toolExecutions } = await fake.session.prompt("hi", never);
  assertStringIncludes(toolExecutions[0]!.result, "The user can grant it with --network.");
  // The hook is sandboxed, and grants no more: a program of the folder may have written its output.
  const outcomes = toolExecutions.slice(1).map(({ outcome }) => outcome);
  assertEquals(outcomes, ["refused", "refused"]);
});

Deno.test("hooks: a Stop hook that objects to the end makes the turn fail", async () => {
  await using at = await places();
  await at.own({ Stop: hook("echo not yet >&2; exit 2") });
  await using server = strictServer(Array(6).fill({ text: "again" }));
  const permissions = at.permissions();
  await using fake = await at.open(server.url, { permissions });
  const { check } = await fake.session.prompt("hi", never);
  const reason = "objects: not yet";
  assertEquals(check, { command: "Stop hook", passed: false, rounds: 6, reason });
  assertEquals(fake.notices().at(-1), "a hook still objects after 5 rounds: not yet");
});

const json = (value: unknown) => `echo '${JSON.stringify(value)}'`;
const decides = (permissionDecision: string, more = {}) =>
  json({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision,
      permissionDecisionReason: "so it is",
      ...more,
    },
  });
const changes = (command: unknown) => decides("allow", { updatedInput: { command } });

const GUARDS: [name: string, command: string, outcome: string, asked: number, result?: RegExp][] = [
  ["exits with 2", "echo not this >&2; exit 2", "refused", 0, /not this/],
  ["is killed", "kill -9 $$", "refused", 0, /cannot run/],
  ["never ends", "sleep 60", "refused", 0, /did not end within 0.5 s/],
  ["does not read", "exec <&-; true", "done", 1],
  ["allows", decides("allow"), "done", 0],
  ["asks", decides("ask"), "done", 1],
  [
    "changes the call",
    changes("touch other; echo changed"),
    "done",
    0,
    /^A hook changed the call to .*changed"/,
  ],
  ["changes it wrongly", changes(["no"]), "refused", 0, /wrongly/],
];

for (const [name, command, outcome, asked, result = /./] of GUARDS) {
  Deno.test(`hooks: a guard before a tool that ${name}`, async () => {
    await using at = await places();
    const timeout = name === "never ends" ? 0.5 : 20;
    await at.own({ PreToolUse: hook(command, "Bash", { timeout }) });
    await using server = strictServer([bash("touch made"), { text: "done" }]);
    let questions = 0;
    await using fake = await at.open(server.url, {}, {
      approve: () => (questions++, Promise.resolve({ choice: "once" })),
    });
    const { toolExecutions: [done] } = await fake.session.prompt("hi", never);
    assertEquals([done!.outcome, questions], [outcome, asked], done!.result);
    assertMatch(done!.result, result);
    if (outcome === "refused") {
      assertMatch(done!.refusal!, /^a hook refused it: /);
      assertMatch(done!.refusal!, result);
    }
  });
}

Deno.test("hooks: a yes of a hook answers no rule that denies, and nothing in plan mode", async () => {
  await using at = await places();
  await at.own({ PreToolUse: hook(decides("allow")) });
  for (const [deny, approve] of [[["run_bash(touch made)"], "ask"], [[], "plan"]]) {
    await using server = strictServer([bash("touch made"), { text: "done" }]);
    at.put("home/.config/copilot/permissions.json", { deny });
    await using fake = await at.open(server.url, { permissions: at.permissions({ approve }) }, {
      approve: () => Promise.resolve({ choice: "once" }),
    });
    const { toolExecutions: [done] } = await fake.session.prompt("hi", never);
    assertEquals(done!.outcome, "refused", done!.result);
    const shown = (await fake.command("/permissions"))!;
    assertStringIncludes(shown, "\n  hook     PreToolUse: echo ");
    assertStringIncludes(shown, `\n  file     ${at.root}/home/.config/copilot/permissions.json`);
  }
});

Deno.test("hooks: a call that the user's hook changed passes rules, and a folder's hook changes none", async () => {
  await using at = await places();
  at.put("home/.config/copilot/permissions.json", { deny: ["run_bash(touch denied)"] });
  const rows: [own: string, folder: string, outcome: string, result: RegExp][] = [
    [changes("touch denied"), "true", "refused", /touch denied/],
    [changes("touch new"), "true", "done", /^A hook changed the call to .*touch new/],
    ["true", changes("touch denied"), "done", /^(?!A hook)/],
  ];
  for (const [own, folder, outcome, result] of rows) {
    await at.own({ PreToolUse: hook(own) });
    await at.brings({ PreToolUse: hook(folder) });
    await using server = strictServer([bash("touch made"), { text: "done" }]);
    const choice = { sandbox: undefined, yes: true };
    const permissions = at.permissions(choice);
    if (!(await permissions.sandboxStatus(at.folder)).by) return;
    await using fake = await at.open(server.url, { permissions, trust: true });
    const { toolExecutions: [done] } = await fake.session.prompt("hi", never);
    assertEquals([own, folder, done!.outcome], [own, folder, outcome], done!.result);
    assertMatch(done!.result, result);
  }
});

Deno.test("hooks: a prompt that one refuses is not sent, and one may end the turn", async () => {
  await using at = await places();
  await at.own({
    UserPromptSubmit: hook("grep -q secret && { echo no secrets >&2; exit 2; }; true"),
    PreToolUse: hook(json({ continue: false, stopReason: "enough" })),
  });
  await using server = strictServer([bash("true"), { text: "never" }]);
  await using fake = await at.open(server.url);
  await assertRejects(() => fake.session.prompt("a secret", never), Error, "no secrets");
  assertEquals([server.requests.length, fake.session.agent.state.messages.length], [0, 0]);
  const { stopReason } = await fake.session.prompt("hi", never);
  assertEquals([stopReason, server.requests.length], ["aborted", 1]);
  assertStringIncludes(fake.notices().join("\n"), "a hook ended the turn: enough");
});

Deno.test("hooks: those of a folder run once their exact text is approved, in the sandbox, and loosen nothing", async () => {
  await using at = await places();
  const guard = (more = "") => `touch ran ${at.root}/outside; ${decides("allow")}${more}`;
  await at.brings({ PreToolUse: hook(guard(), "Bash") });
  const exists = (name: string) => Deno.stat(`${at.root}/${name}`).then(() => true, () => false);
  const turn = async (answer?: boolean, choice = {}, trust = false) => {
    for (const name of ["repo/ran", "outside"]) {
      await Deno.remove(`${at.root}/${name}`).catch(() => {});
    }
    await using server = strictServer([bash("touch made"), { text: "done" }]);
    const asked: Confirmation[] = [];
    let calls = 0;
    await using fake = await at.open(server.url, {
      permissions: at.permissions({ sandbox: undefined, ...choice }),
      trust,
    }, {
      approve: () => (calls++, Promise.resolve({ choice: "once" })),
      confirm: (question) => {
        if (question.kind === "hooks") asked.push(question);
        return Promise.resolve(answer);
      },
    });
    const { toolExecutions: [done] } = await fake.session.prompt("hi", never);
    const ran = [await exists("repo/ran"), await exists("outside")];
    const pending = fake.notices().some((line) => line.includes("are not approved yet"));
    return { asked, calls, ran, outcome: done!.outcome, result: done!.result, pending };
  };
  const open = await turn();
  assertEquals([open.asked.length, open.ran, open.pending], [1, [false, false], true]);
  const yes = await turn(true);
  const { by } = await (await at.permissions()).sandboxStatus(at.folder);
  // Its write outside fails, and its yes does not count.
  if (by !== undefined) assertEquals([yes.ran, yes.calls, yes.outcome], [[true, false], 1, "done"]);
  else assertMatch(yes.result, /cannot be/);
  assertEquals((await turn()).asked, []);
  // The question promised the sandbox.
  const off = await turn(undefined, { sandbox: "off" });
  assertEquals([off.ran, off.calls], [yes.ran, yes.calls]);
  const trusted = await turn(undefined, { sandbox: "off" }, true);
  assertEquals([trusted.ran, trusted.calls], [[true, true], 1]);
  await at.brings({ PreToolUse: hook(guard("; true"), "Bash") });
  const changed = await turn(false);
  assertEquals([changed.asked.length, changed.ran], [1, [false, false]]);
  const lines = changed.asked[0]!.files[0]!.change!.lines!;
  assertEquals(lines.map(({ kind }) => kind).filter((kind) => kind !== " "), ["-", "+"]);
  const later = await turn(true);
  assertEquals([later.asked.length, later.ran, later.pending], [0, [false, false], false]);
});

Deno.test("hooks: those of a folder that nobody was asked about are asked about later, and join the others", async () => {
  await using at = await places();
  const note = `cat >> ${at.root}/notes; echo >> ${at.root}/notes`;
  await at.own({ SessionStart: hook(note), UserPromptSubmit: hook("echo own") });
  await at.brings({ SessionStart: hook("echo start"), UserPromptSubmit: hook("echo folder") });
  const permissions = at.permissions();
  if (!(await permissions.sandboxStatus(at.folder)).by) return;
  await using server = strictServer([{ text: "a" }, { text: "b" }]);
  await using fake = await at.open(server.url, { permissions });
  await fake.session.prompt("hi", never);
  const asked: string[] = [];
  for (let i = 0; i < 2; i++) {
    for (const { question, decide } of fake.session.openQuestions()) {
      asked.push(question.kind);
      await decide(true, never);
    }
  }
  await fake.session.prompt("hi", never);
  const said = server.requests.map(({ body }) =>
    (body.messages as { content: string }[]).at(-1)!.content
  );
  assertEquals([asked, said], [["hooks"], ["hi\n\nown", "start\n\nhi\n\nown\nfolder"]]);
  assertEquals((await at.notes()).length, 1);
});

/** Prints the transcript that a hook's input names. */
const readsTranscript = 'cat $(sed \'s/.*"transcript_path":"\\([^"]*\\)".*/\\1/\')';

Deno.test("hooks: the transcript is in Claude Code's format, also for a sandboxed hook without a record", async () => {
  for (const sandbox of ["off", "workspace-write"] as const) {
    await using at = await places();
    const permissions = at.permissions({ sandbox, yes: true });
    if (sandbox !== "off" && !(await permissions.sandboxStatus(at.folder)).by) continue;
    await at.own({ Stop: hook(`${readsTranscript} > transcript`) });
    await Deno.writeTextFile(`${at.folder}/a.txt`, "text of a\n");
    const read = { text: "Let me look.", ...use("read_file", { file_path: "a.txt" }) };
    await using server = strictServer([read, { text: "done" }, { text: "again" }]);
    const lines = async () =>
      (await Deno.readTextFile(`${at.folder}/transcript`)).trim().split("\n")
        .map((line) => JSON.parse(line));
    const state = `${at.root}/home/.local/state/copilot-tmp`;
    const left = () =>
      [...Deno.readDirSync(state)].filter(({ name }) => name.startsWith("copilot-hooks-")).length;
    {
      await using fake = await at.open(server.url, { permissions });
      await fake.session.prompt("hi", never);
      const [user, call, result, answer] = await lines();
      assertEquals([user.type, user.message.role, user.message.content], ["user", "user", "hi"]);
      assertEquals([call.type, call.parentUuid], ["assistant", user.uuid]);
      const [text, use] = call.message.content;
      assertEquals(text, { type: "text", text: "Let me look." });
      assertEquals([use.type, use.name], ["tool_use", "Read"]);
      assertEquals(use.input.file_path, `${at.folder}/a.txt`);
      const [given] = result.message.content;
      assertEquals([given.type, given.tool_use_id], ["tool_result", use.id]);
      assertEquals(answer.message.content, [{ type: "text", text: "done" }]);
      await fake.session.prompt("more", never);
      assertEquals(left(), 1);
      assertEquals((await lines()).map(({ message }) => message.content).slice(3), [
        [{ type: "text", text: "done" }],
        "more",
        [{ type: "text", text: "again" }],
      ]);
    }
    assertEquals(left(), 0);
  }
});

Deno.test("hooks: a Stop hook may continue a turn that works for long, and its message replaces the reason", async () => {
  await using at = await places();
  const more = json({ decision: "block", reason: "the whole task again", systemMessage: "round" });
  await at.own({ Stop: hook(`echo >> n; [ $(wc -l < n) -gt 7 ] || ${more}`) });
  await using server = strictServer([
    ...Array.from({ length: 7 }, () => [bash("true"), { text: "not yet" }]).flat(),
    { text: "done" },
  ]);
  await using fake = await at.open(server.url, {}, {
    approve: () => Promise.resolve({ choice: "once" }),
  });
  const { response, check } = await fake.session.prompt("hi", never);
  assertEquals(response, "done");
  assertEquals(check, { command: "Stop hook", passed: true, rounds: 8 });
  assertEquals(fake.notices().at(-1), "a hook continues the turn: round");
  assertStringIncludes(server.requests.at(-1)!.text, "the whole task again");
});

Deno.test("hooks: one answers a question in place of the user, or notifies them; a folder's does not allow", async () => {
  const says = (decision: object) =>
    json({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } });
  const allow = says({ behavior: "allow" });
  const rows: [own: string, brought: string, outcome: string, asked: number][] = [
    [allow, "true", "done", 0],
    ["true", allow, "done", 1],
    [allow, says({ behavior: "deny", message: "not today" }), "refused", 0],
  ];
  for (const [own, brought, outcome, asked] of rows) {
    await using at = await places();
    const note = `cat >> ${at.root}/notes; echo >> ${at.root}/notes`;
    await at.own({ PermissionRequest: hook(own, "Bash"), Notification: hook(note) });
    await at.brings({ PermissionRequest: hook(brought) });
    await using server = strictServer([bash("touch made"), { text: "done" }]);
    let questions = 0;
    {
      await using fake = await at.open(server.url, { trust: true }, {
        async approve() {
          await waitUntil(async () => (await at.notes()).length > 0);
          questions++;
          return { choice: "once" };
        },
      });
      const { toolExecutions: [done] } = await fake.session.prompt("hi", never);
      assertEquals([done!.outcome, questions], [outcome, asked]);
      if (outcome === "refused") assertStringIncludes(done!.result, "not today");
    }
    const [sent] = await at.notes();
    const message = "copilot needs your permission to use Bash";
    if (asked > 0) {
      assertEquals([sent.notification_type, sent.message], ["permission_prompt", message]);
    }
  }
});

Deno.test("hooks: the ends of sub-agents, failed calls and the shortening of the conversation", async () => {
  await using at = await places();
  const note = `cat >> ${at.root}/notes; echo >> ${at.root}/notes`;
  await at.own({
    PostToolUseFailure: hook(note, "Read"),
    SubagentStop: hook(`${note}; echo look closer >&2; exit 2`, "explore"),
    PreCompact: hook(note, "manual"),
  });
  await using server = strictServer([
    use("read_file", { file_path: "none.txt" }),
    use("explore", { task: "where?" }),
    { text: "It is here." },
    { text: "done" },
    { text: "a summary" },
  ]);
  await using fake = await at.open(server.url);
  const { toolExecutions: [, explored] } = await fake.session.prompt("hi", never);
  await fake.command("/compact the names");
  const [failed, ended, room] = await at.notes();
  assertEquals([failed.hook_event_name, failed.tool_name], ["PostToolUseFailure", "Read"]);
  assertStringIncludes(failed.error, "none.txt");
  assertEquals([ended.hook_event_name, ended.agent_type], ["SubagentStop", "explore"]);
  assertStringIncludes(ended.last_assistant_message, "It is here.");
  assertStringIncludes(explored!.result, "[A hook says: look closer]");
  assertEquals([room.trigger, room.custom_instructions], ["manual", "the names"]);
});

Deno.test("hooks: the user's sandboxed hook reads the folders of the home folder that its command names", async () => {
  await using at = await places();
  const permissions = at.permissions({ sandbox: "workspace-write" });
  if (!(await permissions.sandboxStatus(at.folder)).by) return;
  await Deno.mkdir(`${at.root}/home/guard/parts`, { recursive: true });
  await Deno.writeTextFile(`${at.root}/home/guard/parts/a`, "in the part");
  await Deno.writeTextFile(`${at.root}/home/other`, "hidden");
  const look = "cat $AT/parts/a $AT/../other 2>/dev/null; echo";
  await at.own({ UserPromptSubmit: hook(`AT=${at.root}/home/guard sh -c '${look}'`) });
  await using server = strictServer([{ text: "done" }]);
  await using fake = await at.open(server.url, { permissions });
  await fake.session.prompt("hi", never);
  const { content } = (server.requests[0]!.body.messages as { content: string }[]).at(-1)!;
  assertEquals(content, "hi\n\nin the part");
});

Deno.test("hooks: one that the sandbox made fail says what it lacked, and how to grant it", async () => {
  await using at = await places();
  const permissions = at.permissions({ sandbox: "workspace-write" });
  if ((await permissions.sandboxStatus(at.folder)).by !== "bubblewrap") return;
  const write = hook("touch .git/config && cp .git/config .git/hooks/x");
  await at.own({ UserPromptSubmit: write });
  await at.brings({ UserPromptSubmit: hook("cp .git/config .git/hooks/y") });
  await Deno.mkdir(`${at.folder}/.git/hooks`);
  await Deno.writeTextFile(`${at.folder}/.git/config`, "");
  await using server = strictServer([{ text: "done" }]);
  await using fake = await at.open(server.url, { permissions, trust: true });
  await fake.session.prompt("hi", never);
  const told = fake.notices().filter((line) => line.includes("in the sandbox"));
  assertMatch(told[0]!, /Read-only file system.*"sandbox": "off" beside its command$/);
  assertMatch(told[1]!, /Read-only file system.*--sandbox off$/);
});
