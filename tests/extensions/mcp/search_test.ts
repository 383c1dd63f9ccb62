import { assertEquals } from "@std/assert";
import { searchTools, toolLine } from "../../../src/extensions/mcp/search.ts";
import type { JsonSchema, Tool } from "../../../src/types/tool.ts";

const tool = (name: string, description = "", parameters: JsonSchema = {}): Tool => ({
  ...{ name, description, parameters, access: "network" },
  run: () => "",
});

Deno.test("mcp: tools are found by the words of their names, then of their descriptions", () => {
  const tools = [
    tool("git__createIssue", "Makes a ticket"),
    tool("git__list_issues", "Lists tickets"),
    tool("mail__send", "Sends a message about an issue"),
    tool("mail__cat", "Prints"),
  ];
  const found = (query: string) => searchTools(tools, query).map(({ name }) => name);
  const rows: [query: string, names: string[]][] = [
    ["create issue", ["git__createIssue", "git__list_issues", "mail__send"]],
    ["CREATE", ["git__createIssue"]],
    ["issue", ["git__list_issues", "git__createIssue", "mail__send"].sort()],
    ["ticket", ["git__createIssue", "git__list_issues"]],
    ["sending", ["mail__send"]],
    ["cats", []],
    ["cat", ["mail__cat"]],
    ["mess", ["mail__send"]],
    ["mes", []],
    ["print prints", ["mail__cat"]],
    ["nothing like it", []],
    ["", []],
  ];
  for (const [query, names] of rows) assertEquals(found(query), names, query);
  const many = Array.from({ length: 9 }, (_, i) => tool(`t${i}`, "same"));
  assertEquals(searchTools(many, "same").length, 6);
  assertEquals(searchTools([tool("a", `${"x ".repeat(500)}far`)], "far"), []);
  assertEquals(searchTools([tool("a", `${"x ".repeat(498)}far`)], "far").length, 1);
});

Deno.test("mcp: a tool is told in one line, with its arguments, those that are required first", () => {
  const properties = {
    title: { type: "string" },
    repo: { type: "string" },
    kind: { enum: ["a", "b"] },
    ids: { type: "array", items: { type: "integer" } },
    any: {},
    odd: null,
    both: { type: ["string", "null"] },
  };
  const line = toolLine(tool("x", "Makes\none", { properties, required: ["repo"] }));
  assertEquals(
    line,
    'x(repo: string, title?: string, kind?: "a"|"b", ids?: integer[], any?: any, odd?: any, both?: string|null): Makes one',
  );
  // As FastMCP describes models and Optional.
  const person = {
    type: "object",
    properties: { name: { type: "string" }, at: { $ref: "#/$defs/at" } },
  };
  const at = { type: "array", items: { anyOf: [{ type: "integer" }, { $ref: "#/$defs/person" }] } };
  const named = {
    who: { $ref: "#/$defs/person" },
    limit: { anyOf: [{ type: "integer" }, { type: "null" }] },
    either: { anyOf: [{ type: "integer" }, { type: "string" }, { type: "null" }] },
  };
  const parameters = { properties: named, required: ["who"], $defs: { person, at } };
  assertEquals(
    toolLine(tool("x", "", parameters)),
    "x(who: {name?: string, at?: (integer|object)[]}, limit?: integer|null, either?: integer|string|null)",
  );
  assertEquals(toolLine(tool("x")), "x()");
  assertEquals(toolLine(tool("x", "", { properties: 5 } as never)), "x()");
  assertEquals(toolLine(tool("x", "d".repeat(160))), `x(): ${"d".repeat(160)}`);
});
