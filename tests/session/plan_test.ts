/** Plan mode: one of the modes, in which nothing is written. */

import { assertEquals, assertMatch } from "@std/assert";
import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { tighten } from "../../src/safety/policy.ts";
import type { ApproveMode } from "../../src/safety/settings.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { strictServer, use } from "../helpers/strict_server.ts";
import { workspace } from "../tools/workspace.ts";

const signal = new AbortController().signal;
const sandbox = await findSandbox();
const none = typeof sandbox === "string" ? sandbox : "";
const skipped = none && ` (skipped: ${none})`;
const NO_SERVER = "http://127.0.0.1:9";

const bash = (command: string, more = {}) => use("run_bash", { command, ...more });

Deno.test(
  `SBX-01 in plan mode commands run where they can write nothing but their own /tmp${skipped}`,
  { ignore: none !== "" },
  async () => {
    using ws = workspace();
    using outside = workspace();
    using home = workspace();
    Deno.mkdirSync(home.at("copilot"));
    const allow = ["run_bash", "write_file"];
    home.put("copilot/permissions.json", JSON.stringify({ allow, sandboxWrite: [outside.dir] }));
    const steps = [
      bash(`echo x > /tmp/own && cat /tmp/own && touch a ${outside.dir}/b`),
      bash("git commit -m x"),
      bash("touch c", { leave: "sandbox", reason: "x" }),
      bash("touch c", { leave: "network", reason: "x" }),
      use("write_file", { file_path: "d", content: "x" }),
    ];
    await using server = strictServer([...steps, { text: "A plan." }]);
    const permissions = openPermissions(
      { approve: "auto" },
      (name) => name === "XDG_CONFIG_HOME" ? home.dir : undefined,
    );
    let asked = 0;
    await using fake = await fakeSession(server.url, { folder: ws.dir, permissions }, {
      approve: () => (asked++, Promise.resolve({ choice: "once" })),
    });
    await fake.command("/plan");
    assertEquals(fake.session.status.mode, { approve: "plan", isSandboxed: true });
    const { toolExecutions } = await fake.session.prompt("go", signal);
    assertEquals(toolExecutions.map(({ refusal }) => refusal), [
      undefined,
      ...Array(4).fill("plan mode"),
    ]);
    assertMatch(
      toolExecutions[0]!.result,
      /stdout:\nx\n[^]*Read-only file system|stdout:\nx\n[^]*not permitted/,
    );
    assertEquals([ws.names(), outside.names(), asked, fake.session.refusals], [[], [], 0, 0]);
  },
);

Deno.test("plan mode ends with the mode that was in force before it", async () => {
  const rows: [chosen: ApproveMode | undefined, lines: string[], modes: string[]][] = [
    ["ask", ["/approve edits", "/plan", "/plan"], ["auto", "plan", "auto"]],
    ["ask", ["/approve edits", "/approve plan", "/approve plan", "/plan"], [
      "auto",
      "plan",
      "plan",
      "auto",
    ]],
    ["ask", ["/plan", "/approve never", "/plan", "/plan off"], ["plan", "never", "plan", "never"]],
    ["plan", ["/approve", "/plan off", "/plan", "/plan"], ["plan", "ask", "plan", "ask"]],
    [undefined, ["/plan", "/plan off"], ["plan", "ask"]],
  ];
  using ws = workspace();
  for (const [approve, lines, modes] of rows) {
    const permissions = openPermissions(
      { sandbox: "off", ...approve && { approve } },
      () => undefined,
    );
    await using fake = await fakeSession(NO_SERVER, { folder: ws.dir, permissions });
    const seen: string[] = [];
    for (const line of lines) {
      await fake.command(line);
      seen.push((await permissions.mode(ws.dir)).approve);
      if (line !== "/approve") assertEquals(fake.session.status.mode?.approve, seen.at(-1));
    }
    assertEquals(seen, modes, lines.join());
  }
});

for (const choice of [{ approve: "plan" }, { usual: { approve: "plan" } }] as const) {
  const by = "usual" in choice ? "by config.json" : "by a flag";
  Deno.test(`a session that begins in plan mode ${by} tells the model, and the end of it`, async () => {
    await using server = strictServer([{ text: "One." }, { text: "Two." }]);
    using ws = workspace();
    const permissions = openPermissions(choice, () => undefined);
    await using fake = await fakeSession(server.url, { folder: ws.dir, permissions });
    await fake.session.prompt("one", signal);
    await fake.command("/approve auto");
    await fake.session.prompt("two", signal);
    const [first, second] = fake.session.agent.state.messages.filter(({ role }) => role === "user");
    assertMatch(first!.content, /^\[Plan mode: look around/);
    assertMatch(second!.content, /^\[Plan mode is over; the plan was not accepted\.\]/);
  });
}

Deno.test("TRU-03 plan is the strictest mode, then never: a folder may ask for either", async () => {
  const rows: [ours: ApproveMode, theirs: ApproveMode, expected: ApproveMode][] = [
    ["plan", "never", "plan"],
    ["never", "plan", "plan"],
    ["auto", "plan", "plan"],
    ["auto", "never", "never"],
    ["plan", "auto", "plan"],
  ];
  for (const [approve, theirs, expected] of rows) {
    const { settings } = tighten({ approve, sandbox: "off", rules: [] }, { approve: theirs });
    assertEquals(settings.approve, expected);
  }
  using ws = workspace();
  Deno.mkdirSync(ws.at(".copilot"));
  ws.put(".copilot/permissions.json", '{"approve": "plan"}');
  const permissions = openPermissions({ sandbox: "off" }, () => undefined);
  await using fake = await fakeSession(NO_SERVER, { folder: ws.dir, permissions });
  assertEquals(
    await fake.command("/plan off"),
    "Plan mode stays on: this folder's settings require it.",
  );
  assertEquals(await fake.command("/approve auto"), await fake.command("/plan off"));
  assertEquals(fake.session.status.mode?.approve, "plan");
});
