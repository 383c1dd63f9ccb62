import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { Approval, ApprovalAnswer } from "../../src/safety/approval.ts";
import type { SessionEvent } from "../../src/session/frontend.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { Decision } from "../../src/types/policy.ts";
import type { ToolContext } from "../../src/types/tool.ts";
import { type Workspace, workspace } from "../tools/workspace.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

/** A person who answers in turn, and what they were asked and told. */
class Person {
  readonly asked: Approval[] = [];
  readonly events: SessionEvent[] = [];
  readonly #answers: ApprovalAnswer[];

  constructor(...answers: ApprovalAnswer[]) {
    this.#answers = answers;
  }

  approve(request: Approval): Promise<ApprovalAnswer> {
    this.asked.push(request);
    return Promise.resolve(this.#answers.shift() ?? { choice: "refuse", reason: "" });
  }

  onEvent(event: SessionEvent): void {
    this.events.push(event);
  }
}

/** Has a person decide a call, with their settings in the folder `config`. */
async function decide(
  person: Person,
  ws: Workspace,
  name: string,
  args: Record<string, unknown>,
  { context = ws.context, home }: { context?: ToolContext; home?: string } = {},
): Promise<Decision> {
  const permissions = openPermissions(
    {},
    (variable) => variable === "XDG_CONFIG_HOME" ? home : Deno.env.get(variable),
  );
  const tool = builtinTools.find((one) => one.name === name)!;
  permissions.frontend = person;
  const policy = permissions.policy(person.approve.bind(person));
  return await policy.decide(tool, args, { ...context, callId: "call-1" });
}

const edit = (file_path: string) => ({
  file_path,
  old_string: "one",
  new_string: "two",
  replace_all: false,
});

Deno.test("a question holds what will be written, from the bytes that then are", async () => {
  using ws = workspace();
  ws.put("f", "zero\r\none\r\n");
  const person = new Person({ choice: "once" });
  const decision = await decide(person, ws, "edit_file", edit("f"));
  assert(decision.allow);
  assertEquals(person.asked, [{
    // What was not given is not shown.
    call: {
      id: "call-1",
      name: "edit_file",
      arguments: { file_path: "f", old_string: "one", new_string: "two" },
    },
    subject: { path: "f", isFile: true, action: "edit" },
    reason: "writes",
    isRoutine: true,
    isFromUser: false,
    choices: ["once", "refuse", "session", "folder"],
    rules: [{ rule: "edit_file(f)", words: "f" }],
    rulePath: "f",
    allowsEdits: true,
    preview: {
      path: "f",
      isNew: false,
      morePlaces: 0,
      lines: [
        { kind: " ", text: "zero", line: 1 },
        { kind: "-", text: "one", line: 2 },
        { kind: "+", text: "two", line: 2 },
      ],
    },
  }]);
  assertEquals(decision.prepared?.change, person.asked[0]!.preview);
  const tool = builtinTools.find(({ name }) => name === "edit_file")!;
  await tool.run(edit("f"), ws.context, decision.prepared);
  assertEquals(ws.text("f"), "zero\r\ntwo\r\n");
});

test("a question about a link names the place that it leads to", async () => {
  using ws = workspace();
  const other = await Deno.realPath(await Deno.makeTempDir());
  ws.put("a", "one\n");
  for (const [name, to] of [["notes.txt", ".bashrc"], ["keys.txt", ".netrc"], ["own.txt", "x"]]) {
    Deno.writeTextFileSync(`${other}/${to}`, "one\n");
    Deno.symlinkSync(`${other}/${to}`, `${ws.dir}/${name}`);
  }
  Deno.symlinkSync("a", `${ws.dir}/inside.txt`);
  const person = new Person({ choice: "once" });
  for (const name of ["notes.txt", "keys.txt", "own.txt", "inside.txt", "./sub/../a"]) {
    await decide(person, ws, "edit_file", edit(name));
  }
  assertEquals(person.asked.map(({ reason, isRoutine }) => [reason, isRoutine]), [
    [`is a file that shells run at their start (${other}/.bashrc)`, false],
    [`may contain saved passwords (${other}/.netrc)`, false],
    [`is outside of the working directory (${other}/x)`, false],
    [`writes (${ws.dir}/a)`, false],
    ["writes", true],
  ]);
  await Deno.remove(other, { recursive: true });
});

Deno.test("nobody is asked about a call that would fail", async () => {
  using ws = workspace();
  ws.put("f", "other\n");
  const person = new Person();
  await assertRejects(() => decide(person, ws, "edit_file", edit("f")), Error, "not found");
  assertEquals(person.asked, []);
});

test("why a call would fail is not told of a file that may not be read", async () => {
  using ws = workspace();
  using outside = workspace();
  const path = outside.put("f", "a token\n");
  const person = new Person({ choice: "once" });
  const seenFiles = new Map([[path, "as it was"]]);
  const context = { ...ws.context, seenFiles };
  const decision = await decide(person, ws, "edit_file", edit(path), { context });
  assertEquals([person.asked[0]!.preview, decision.allow], [undefined, true]);
  // What the model was not shown does not count as seen.
  assertEquals(seenFiles.get(path), "as it was");
  outside.put("f", "one\n");
  await decide(person, ws, "edit_file", edit(path));
  assertEquals(person.asked[1]!.preview?.lines?.length, 2);
});

Deno.test("SEC-01 a question about a file of secrets shows no line that the call does not name", async () => {
  using ws = workspace();
  ws.put(".env", "KEY=1\none=1 KEY=2\n");
  const person = new Person();
  await decide(person, ws, "edit_file", edit(".env"));
  await decide(person, ws, "write_file", { file_path: ".env", content: "x" });
  assertEquals(person.asked.map(({ preview }) => preview), [
    {
      path: ".env",
      isNew: false,
      morePlaces: 0,
      lines: [{ kind: "-", text: "one" }, { kind: "+", text: "two" }],
    },
    { path: ".env", isNew: false, morePlaces: 0, replacedBytes: 18 },
  ]);
});

Deno.test("CMD-05 the danger in a line is its reason, whatever is asked about before it", async () => {
  using ws = workspace();
  const person = new Person();
  for (const command of ["touch x && git reset --hard && touch y", "sh x && git reset --hard"]) {
    await decide(person, ws, "run_bash", { command });
    const { reason, isRoutine, isDanger, isLossy } = person.asked.at(-1)!;
    const expected = ["can destroy work (git reset --hard)", false, true, true];
    assertEquals([reason, isRoutine, isDanger, isLossy], expected, command);
  }
  await decide(person, ws, "run_bash", { command: "sh x" });
  assertEquals(person.asked.at(-1)!.isDanger, undefined);
});

Deno.test("a push that deletes or replaces branches of the remote is a danger", async () => {
  using ws = workspace();
  for (const words of ["origin :main", "-qd origin main", "--force-with-lease", "origin +main"]) {
    const person = new Person();
    await decide(person, ws, "run_bash", { command: `git push ${words}` });
    assertMatch(person.asked[0]!.reason, /deletes or replaces|with force/, words);
  }
});

Deno.test("an edited command is decided anew, and runs without another question", async () => {
  using ws = workspace();
  const person = new Person({ choice: "edit", command: "git push --force" });
  const decision = await decide(person, ws, "run_bash", { command: "touch x", timeout_seconds: 9 });
  assertEquals(decision, {
    allow: true,
    args: { command: "git push --force", timeout_seconds: 9 },
  });
  assertEquals(
    person.asked.map(({ subject, isRoutine, rules }) => [
      subject.command,
      isRoutine,
      rules?.map(({ rule }) => rule).join(),
    ]),
    [["touch x", true, "run_bash(touch x)"]],
  );
});

Deno.test("only a command of one line can be edited", async () => {
  using ws = workspace();
  const person = new Person();
  await decide(person, ws, "run_bash", { command: "make test" });
  await decide(person, ws, "run_bash", { command: "npm \\\ntest" });
  assertEquals(person.asked.map(({ choices }) => choices.includes("edit")), [true, false]);
});

Deno.test("a refusal goes to the model with its reason, which stays on the screen", async () => {
  using ws = workspace();
  for (
    const [reason, expected] of [["", "ask what they want"], ["why", "They say: why"]] as const
  ) {
    const person = new Person({ choice: "refuse", reason });
    const decision = await decide(person, ws, "run_bash", { command: "make test" });
    assert(!decision.allow);
    assertStringIncludes(decision.reason, expected);
    assertEquals(decision.summary, reason === "" ? undefined : "you said: why");
  }
});

test("a rule is remembered as far as the answer says, and that is reported", async () => {
  using ws = workspace();
  using home = workspace();
  const rule = "run_bash(make test)";
  const added = { rule, words: "make test" };
  const answers = async (choice: "session" | "folder", config: string) => {
    const person = new Person({ choice });
    const context = { home: config };
    const decision = await decide(person, ws, "run_bash", { command: "make test" }, context);
    assertEquals(decision, { allow: true });
    return person.events;
  };
  assertEquals(await answers("session", home.dir), [{ type: "rule_added", ...added }]);
  const path = home.at("copilot/permissions.json");
  assertEquals(await answers("folder", home.dir), [{ type: "rule_added", ...added, path }]);
  assertStringIncludes(await Deno.readTextFile(path), rule);
  // No folder can be made where a file is: the rule is for the session alone, and the call runs.
  const [event] = await answers("folder", home.put("file", ""));
  assert(event?.type === "rule_added" && event.error !== undefined && event.path === undefined);
});

Deno.test({
  name: "SBX-04 a question about a command that needs the network grants it, also if it is edited",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using ws = await workspace({});
    const network = { kind: "network" } as const;
    const tool = builtinTools.find(({ name }) => name === "run_bash")!;
    const cases: [command: string, networked: string | undefined, edited?: string][] = [
      ["curl -sS https://example.com/", "curl -sS https://example.com/"],
      ["cd sub && npm install left-pad", "npm install"],
      ["timeout 9 pip install x", "timeout 9 pip install x"],
      ["make", undefined],
      ["git remote -v", undefined],
      // A job of the sandbox may be that server.
      ["curl -s http://127.0.0.1:3000/x", undefined],
      ["sleep 1; curl localhost:3000", undefined],
      ["curl http://a/", "curl http://a/", "curl http://b/"],
      ["curl http://a/", "curl http://a/", "make"],
    ];
    for (const [command, networked, edited] of cases) {
      const person = new Person(
        edited === undefined ? { choice: "once" } : { choice: "edit", command: edited },
      );
      const permissions = openPermissions({ approve: "ask", sandbox: "workspace-write" });
      permissions.frontend = person;
      const policy = permissions.policy(person.approve.bind(person));
      const decided = await policy.decide(tool, { command }, ws.context);
      const [asked] = person.asked;
      assertEquals(asked!.networked?.at(-1)?.text, networked, command);
      assertEquals(asked!.right, networked === undefined ? undefined : network, command);
      assert(decided.allow);
      assertEquals(
        decided.right,
        networked === undefined || edited === "make" ? undefined : network,
        command,
      );
    }
    // Without a question, nothing beyond the settings is granted.
    const yes = openPermissions({ approve: "ask", sandbox: "workspace-write", yes: true }).policy();
    const decided = await yes.decide(tool, { command: "curl http://a/" }, ws.context);
    assertEquals(decided.allow && decided.right, undefined);
  },
});
