import { assertEquals } from "@std/assert";
import { tomlTable } from "../../src/text/toml.ts";

Deno.test("tomlTable: one table with its subtables; other tables, comments and long texts are left out", () => {
  const text = `model = "gpt" # [servers.no]
notes = """
[servers.fake]
command = "x"
"""
[servers.docs]
command = "npx"   # the launcher = it
args = [
  "-y", # yes
  'C:\\dir',
]
env = { "API_KEY" = "a=b # c", B = 'd' }
timeout_sec = 20
enabled = true
[servers."a.b".headers]
X-One = "1"
[[profiles]]
command = "no"
[servers.docs.env]
MORE = "x"
`;
  assertEquals(tomlTable(text, "servers"), {
    docs: {
      command: "npx",
      args: ["-y", "C:\\dir"],
      env: { API_KEY: "a=b # c", B: "d", MORE: "x" },
      timeout_sec: 20,
      enabled: true,
    },
    "a.b": { headers: { "X-One": "1" } },
  });
  assertEquals(tomlTable("[servers.a]\nargs = [ 1,\n", "servers"), { a: { args: undefined } });
  // Ways to divide the comment would be tried for years.
  const open = `[servers.a]\nargs = [ 1, ${"# ".repeat(50)}\nb = 2\n`;
  assertEquals(tomlTable(open, "servers"), { a: { args: undefined, b: 2 } });
  tomlTable("[servers.__proto__]\nb = 1\n", "servers");
  assertEquals(({} as Record<string, unknown>).b, undefined);
});
