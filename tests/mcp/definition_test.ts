import { assertEquals } from "@std/assert/equals";
import { definitionsIn, variablesOf } from "../../src/mcp/definition.ts";

Deno.test("mcp: the variables of a definition are those that its parts expand to, each by itself", () => {
  const rows: [server: Record<string, unknown>, names: string[]][] = [
    [{ command: "${A}", args: ["{env:B}", "${C:-d}", "$D", "$${E}"] }, ["A", "B", "C", "E"]],
    // The beginning of one in an argument must not hide another one behind it.
    [{ command: "x", args: ["${A:-", "${SECRET}"] }, ["SECRET"]],
    [{ url: "https://a/${A}", headers: { b: "${env:B}" } }, ["A", "B"]],
    [{ command: "x", env: { a: '${A}"${B}' }, cwd: "${C}" }, ["A", "B", "C"]],
    [{ url: "https://a", oauth: { clientId: "${A}", clientSecret: "${B}" } }, ["A", "B"]],
  ];
  for (const [server, names] of rows) {
    const [definition] = definitionsIn({ mcpServers: { a: server } }, { scope: "folder" });
    assertEquals(variablesOf(definition!).sort(), names, JSON.stringify(server));
  }
});
