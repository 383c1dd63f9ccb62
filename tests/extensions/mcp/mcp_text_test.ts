import { assertEquals } from "@std/assert";
import { definitionsIn } from "../../../src/extensions/mcp/definition.ts";
import { serverQuestion } from "../../../src/extensions/mcp/mcp_text.ts";
import type { ToolChange } from "../../../src/extensions/mcp/server.ts";

Deno.test("an MCP server is shown with all that its approval is about", () => {
  const linesOf = (fields: object, file?: string, ...changes: ToolChange[]) => {
    const scope = file === ".mcp.json" ? "folder" : "user";
    const source = { scope, ...file !== undefined && { file } } as const;
    const definition = definitionsIn({ mcpServers: { "s": fields } }, source)[0]!;
    const named = { ...definition, name: "s\x1b" };
    return serverQuestion({ definition: named, trust: {} }, changes).text.split("\n");
  };
  assertEquals(linesOf({ url: "https://a" }), ["The MCP server s␛:", '  url: "https://a"']);
  assertEquals(linesOf({ command: "a", args: ["${A}${B}"] }, "/f\x1b"), [
    "The MCP server s␛ of /f␛:",
    '  command: ["a","${A}${B}"]',
    "  It gets the values of A, B.",
    "  It runs with the network.",
  ]);
  assertEquals(linesOf({ command: "a", network: false }).at(-1), "  It runs without a network.");
  assertEquals(
    linesOf({ command: "a", network: true }, ".mcp.json").at(-1),
    "  It runs with the network, and commands can change what it runs.",
  );
  const tool = (description: string) => ({ name: "t", description, inputSchema: {} });
  const changes = [{ now: tool("b") }, { before: tool("a"), now: tool("b") }];
  const rows = linesOf({ command: "a" }, undefined, ...changes);
  assertEquals(rows.slice(0, 2), ["Tools of the MCP server s␛:", "New: t"]);
  assertEquals(rows.filter((row) => /^ {2}[-+]|^Changed/.test(row)).slice(-3), [
    "Changed: t",
    '  -   "description": "a",',
    '  +   "description": "b",',
  ]);
});
