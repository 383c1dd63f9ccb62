import { assertEquals } from "@std/assert";
import type { PathAccess } from "../../src/safety/folder_looks.ts";
import { PathTable } from "../../src/safety/path_table.ts";
import { placeOf } from "../../src/safety/places.ts";
import { decide, grantOf, rulesFor } from "../../src/safety/policy.ts";
import { parseRule, type RuleEffect } from "../../src/safety/rules.ts";
import type { PolicyCall, Settings } from "../../src/safety/settings.ts";
import type { View } from "../../src/safety/view.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

/** Nothing exists and no path is a link. */
const NO_LINKS = {
  realPathSync: (path: string) => new URL(`file://${path}`).pathname,
  readLinkSync: (): string => {
    throw new Deno.errors.NotFound();
  },
};
const place = (path: string) => placeOf("/ws", path, NO_LINKS);
const viewOf = (places: [string, PathAccess][]): View => ({
  folder: "/ws",
  places: new Map([["/", "hidden"], ["/ws", "write"], ["/usr", "read"], ...places]),
  network: false,
  isComplete: true,
});

function settingsOf(rules: readonly string[], more: Partial<Settings> = {}): Settings {
  return {
    ...{ approve: "ask", sandbox: "workspace-write", hasBash: () => true },
    rules: rules.map((text) => {
      const [effect, ...rest] = text.split(" ");
      return parseRule(effect as RuleEffect, rest.join(" "));
    }),
    ...more,
  };
}

const reader = { name: "read_file", access: "read" } as const;
const writer = { name: "edit_file", access: "write" } as const;
const bash = { name: "run_bash", access: "execute" } as const;

test("a grant withholds what reading by name would be refused or asked about", () => {
  const rules = [
    "deny read(denied)",
    "ask read(asked)",
    "allow read(allowed)",
    "deny edit_file(unwritten)",
    "deny run_bash(ls)",
    "deny read",
    "deny read(/etc/hosts)",
    "ask grep_code(searched)",
  ];
  type Row = [tool: PolicyCall["tool"], path: string, isAsked: boolean, withheld: string[]];
  const rows: Row[] = [
    [reader, ".", true, ["denied", "asked", "/etc/hosts"]],
    [reader, ".", false, ["denied", "/etc/hosts"]],
    [writer, ".", true, ["denied", "asked", "unwritten", "/etc/hosts"]],
    // What was asked about with the path is not left out again; what is refused is.
    [reader, "asked", true, ["denied", "/etc/hosts"]],
    [reader, "denied", true, ["denied", "asked", "/etc/hosts"]],
  ];
  const names = ["denied", "asked", "allowed", "unwritten", "searched", "/etc/hosts"];
  for (const [tool, path, isAsked, expected] of rows) {
    const grant = grantOf(tool, path, settingsOf(rules), place, isAsked);
    const { folder, paths, absolute = [], files } = grant.withheld;
    const withheld = names.filter((name) =>
      (name.startsWith("/") ? absolute : paths).some((regex) => regex.test(name))
    );
    assertEquals([folder, withheld], ["/ws", expected]);
    assertEquals([grant.realPath, grant.isSecret], [place(path).real, undefined]);
    assertEquals(files?.test("/ws/.env"), isAsked ? true : undefined);
  }
});

test("secrets are withheld where they are asked about, and where commands are confined", () => {
  const view = () => viewOf([]);
  const rows: [path: string, settings: Settings, isAsked: boolean, isHidden: boolean][] = [
    ["a", settingsOf([]), true, true],
    ["a", settingsOf([]), false, false],
    ["a", settingsOf([], { view }), false, true],
    // The secret itself was decided on.
    [".env", settingsOf([]), true, false],
    [".env", settingsOf([], { view }), false, false],
  ];
  for (const [path, settings, isAsked, isHidden] of rows) {
    const { withheld, isSecret } = grantOf(reader, path, settings, place, isAsked);
    assertEquals([withheld.files !== undefined, isSecret], [
      isHidden,
      path === ".env" ? true : undefined,
    ]);
  }
});

test("of a folder outside, what the view closes below it is withheld, as a whole", () => {
  const view = () =>
    viewOf([
      ["/usr/closed", "hidden"],
      ["/usr/e\u0301", "hidden"],
      ["/usr/own", "own"],
      ["/usr/open", "read"],
      ["/ws/closed", "hidden"],
    ]);
  const closed = (path: string) =>
    grantOf(reader, path, settingsOf([], { view }), place, true).withheld.absolute!;
  const isClosed = (path: string) => closed("/usr").some((regex) => regex.test(path));
  const rows: [path: string, isClosed: boolean][] = [
    ["/usr/closed", true],
    ["/usr/closed/", true],
    ["/usr/closed/x", false],
    ["/usr/closedx", false],
    ["/x/usr/closed", false],
    ["/usr/\u00e9", true],
    ["/usr/own", true],
    ["/usr/open", false],
    ["/usr", false],
    ["/ws/closed", false],
  ];
  for (const [path, expected] of rows) assertEquals(isClosed(path), expected, path);
  assertEquals(closed("/usr/closed").length, 0);
  assertEquals(closed(".").length, 0);
});

test("plan mode runs what the sandbox holds, and asks about nothing", () => {
  const view = () => viewOf([]);
  const plan = (more: Partial<Settings>, rules: string[] = []) =>
    settingsOf(rules, { approve: "plan", ...more });
  const refusal = ["deny", "is not allowed in plan mode", true];
  type Row = [call: PolicyCall, settings: Settings, effect: string, reason?: string, plan?: true];
  const rows: Row[] = [
    [{ tool: bash, command: "ls" }, plan({ view }), "allow"],
    [{ tool: bash, command: "ls" }, plan({}, ["allow run_bash"]), ...refusal] as Row,
    [{ tool: bash, command: "ls" }, plan({ view }, ["ask run_bash"]), ...refusal] as Row,
    [{ tool: bash, command: "ls" }, plan({ view }, ["deny run_bash"]), "deny"],
    [{ tool: bash, command: "ls", leave: "sandbox" }, plan({ view }), ...refusal] as Row,
    [
      { tool: bash, command: "ls", leave: "sandbox" },
      plan({ view }, ["allow run_bash(ls)"]),
      ...refusal,
    ] as Row,
    [{ tool: writer, path: "a" }, plan({}, ["allow write"]), ...refusal] as Row,
    [{ tool: writer, path: "a" }, plan({}, ["deny write"]), "deny"],
    [{ tool: reader, path: "a" }, plan({}), "allow"],
    [{ tool: reader, path: "/x" }, plan({}), "ask"],
  ];
  for (const [call, settings, effect, reason, isPlanned] of rows) {
    const verdict = decide(call, settings, place);
    assertEquals(verdict.effect, effect, JSON.stringify(call));
    if (reason !== undefined) assertEquals(verdict.reason, reason);
    assertEquals("isPlanned" in verdict ? verdict.isPlanned : undefined, isPlanned);
  }
});

test("the rules that a question offers: for the place itself, for the sandbox alone, or none", () => {
  const view = () => viewOf([]);
  const rows: [call: PolicyCall, settings: Settings, offered: unknown[]][] = [
    [{ tool: writer, path: "src/a.ts" }, settingsOf([]), [
      { rule: "edit_file(src/a.ts)", words: "src/a.ts" },
    ]],
    [{ tool: writer, path: "a*b" }, settingsOf([]), []],
    [{ tool: writer, path: "../a" }, settingsOf([]), [{ rule: "edit_file(/a)", words: "/a" }]],
    [{ tool: writer, path: "a" }, settingsOf(["ask write"]), []],
    [{ tool: bash, command: "ls", leave: "network" }, settingsOf([]), []],
    [{ tool: { ...writer, ruleName: "mcp__x__y" } }, settingsOf([]), [
      { rule: "mcp__x__y", words: "edit_file" },
    ]],
    [{ tool: bash, command: "make x" }, settingsOf([]), [
      { rule: "run_bash(make x)", words: "make x" },
    ]],
    [{ tool: bash, command: "make x" }, settingsOf([], { view }), [
      { rule: "run_bash(make x)", words: "make x", confined: true },
    ]],
  ];
  for (const [call, settings, offered] of rows) {
    assertEquals([...rulesFor(call, settings, place)], offered, JSON.stringify(call));
  }
});

test("temporary files of sessions are secret in a folder that has them, not in a copy among them", () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync());
  const temporary = `${root}/state/copilot-tmp`;
  Deno.mkdirSync(`${temporary}/copy`, { recursive: true });
  const settings = settingsOf([], { paths: new PathTable({ temporary }), view: () => viewOf([]) });
  const rows = [[root, true], [`${temporary}/copy`, false]] as const;
  for (const [folder, isSecret] of rows) {
    const at = (path: string) => placeOf(folder, path);
    const call = { tool: reader, args: {}, path: `${temporary}/copy/a` };
    assertEquals(decide(call, settings, at).effect, isSecret ? "ask" : "allow");
    const { absolute = [] } = grantOf(reader, ".", settings, at, false).withheld;
    assertEquals(absolute.some((regex) => regex.test(temporary)), isSecret);
  }
  Deno.removeSync(root, { recursive: true });
});
