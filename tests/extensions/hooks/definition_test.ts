import { assertEquals } from "@std/assert";
import { hooksQuestion } from "../../../src/extensions/hooks/hooks_extension.ts";
import { hooksIn, matchesHook } from "../../../src/extensions/hooks/definition.ts";

const SLIPS: [events: unknown, why: string[]][] = [
  [{ PostToolUseFailure: [], Notification: [], SubagentStop: [], PreCompact: [] }, []],
  [{ SubagentStart: [{ hooks: [] }], FileChanged: [] }, ["hooks do not run at SubagentStart"]],
];
for (const [events, why] of SLIPS) {
  Deno.test(`hooks: what is told of ${JSON.stringify(events)}`, () => {
    const { problems } = hooksIn(events as Record<string, unknown>, {
      path: "/hooks.json",
      scope: "user",
    });
    assertEquals(problems, why);
  });
}

Deno.test("hooks: what runs is read with its limits, and what cannot run says why", () => {
  const file = { path: "/hooks.json", scope: "user" } as const;
  const read = (hook: unknown, matcher?: unknown) => {
    const { hooks: [one] } = hooksIn({ Stop: [{ matcher, hooks: [hook] }] }, file);
    const { command, timeoutMs, problem, matcher: kept } = one!;
    return [command, timeoutMs, kept, problem];
  };
  const noCommand = 'it must have "type": "command" and a "command"';
  const noPattern = "its matcher is not a regular expression";
  const rows: [hook: unknown, matcher: unknown, read: unknown][] = [
    [{ command: "a" }, undefined, ["a", 60_000, undefined, undefined]],
    [{ type: "command", command: "a", timeout: 0.5 }, "", ["a", 500, undefined, undefined]],
    [{ command: "a", timeout: 600 }, "*", ["a", 600_000, undefined, undefined]],
    [{ command: "a", timeout: 601 }, "x", ["a", 600_000, "x", undefined]],
    [{ command: "a", timeout: 0 }, "x", ["a", 60_000, "x", undefined]],
    [{ command: "a", timeout: "9" }, "x", ["a", 60_000, "x", undefined]],
    [{ command: "a" }, "(", ["a", 60_000, "(", noPattern]],
    [{ command: " " }, "x", ['{"command":" "}', 60_000, "x", noCommand]],
    [{ type: "prompt", command: "a" }, "(", [
      '{"type":"prompt","command":"a"}',
      60_000,
      "(",
      noCommand,
    ]],
    [5, "x", ["5", 60_000, "x", noCommand]],
    [{ command: "a" }, 5, ["a", 60_000, "5", noPattern]],
  ];
  for (const [hook, matcher, expected] of rows) assertEquals(read(hook, matcher), expected);
  // A guard outside of a group guards, or refuses each call.
  const guards: [groups: unknown, read: unknown][] = [
    [[{ matcher: "Bash", command: "a" }], ["a", "Bash", undefined]],
    [{ command: "a" }, ["a", undefined, undefined]],
    [[{ hooks: { command: "a" } }], ['{"hooks":{"command":"a"}}', undefined, noCommand]],
    [[5], ["5", undefined, noCommand]],
  ];
  for (const [PreToolUse, expected] of guards) {
    const [{ command, matcher, problem } = {}] = hooksIn({ PreToolUse }, file).hooks;
    assertEquals([command, matcher, problem], expected);
  }
});

Deno.test("hooks: a file has the outer key, or is none of settings, and a hundred hooks at most", () => {
  const events = { Stop: [{ hooks: [{ command: "a" }] }] };
  const count = (value: Record<string, unknown>, path: string) =>
    hooksIn(value, { path, scope: "user" }).hooks.length;
  assertEquals(count({ hooks: events, Stop: [] }, "/settings.json"), 1);
  assertEquals(count(events, "/settings.local.json"), 0);
  assertEquals(count(events, "/hooks.json"), 1);
  assertEquals(count(events, "/settings/hooks.json"), 1);
});

Deno.test("hooks: a matcher is for whole names, and one that makes no sense for all", () => {
  const matches = (matcher: string | undefined, names: string[], problem?: string) => {
    const hook = { path: "", scope: "user", event: "Stop", command: "a", timeoutMs: 1 } as const;
    return matchesHook(
      { ...hook, ...matcher !== undefined && { matcher }, ...problem !== undefined && { problem } },
      names,
    );
  };
  const rows: [matcher: string | undefined, names: string[], isFor: boolean, problem?: string][] = [
    [undefined, ["a"], true],
    ["Edit|Write", ["x", "Write"], true],
    ["Edit|Write", ["Writer"], false],
    ["Edit", ["MultiEdit"], false],
    ["Edit", [], true],
    ["(", ["a"], true, "no expression"],
  ];
  for (const [matcher, names, isFor, problem] of rows) {
    assertEquals(matches(matcher, names, problem), isFor, `${matcher}`);
  }
});

Deno.test("hooks are shown with their limits", () => {
  const hook = { event: "PreToolUse", command: "a\x1b", timeoutMs: 1500 };
  const two = { ...hook, matcher: "Bash\n  Stop", command: "a\n  Stop: b" };
  const hooks = [hook, { ...hook, matcher: "Bash\x1b" }, two] as never;
  assertEquals(hooksQuestion("/f\nb", hooks).text.split("\n"), [
    "Hooks in /f b: programs that run without asking, in the sandbox:",
    "  PreToolUse: a␛ (at most 1.5 s)",
    "  PreToolUse Bash␛: a␛ (at most 1.5 s)",
    "  PreToolUse Bash Stop: a",
    "  │   Stop: b (at most 1.5 s)",
  ]);
});
