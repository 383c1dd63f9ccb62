import { assertEquals } from "@std/assert";
import {
  instructionLines,
  permissionReportLines,
  trustQuestion,
} from "../../src/frontends/session_lines.ts";
import type { PermissionReport } from "../../src/session/report.ts";

const REPORT: PermissionReport = {
  approve: "ask",
  yes: false,
  mode: "off",
  network: false,
  env: [],
  rules: [],
};

const REPORTS: [change: Partial<PermissionReport>, rows: string[]][] = [
  [{}, ["approve  ask", "sandbox  off: a command can do what you can"]],
  [{ yes: true, mode: "read-only", by: "bubblewrap" }, [
    "approve  --yes: nothing is asked",
    "sandbox  read-only, by bubblewrap, without network",
  ]],
  [{ mode: "workspace-write", why: "sandbox-exec is missing", network: true }, [
    "approve  ask",
    "sandbox  workspace-write, but sandbox-exec is missing: commands are refused",
  ]],
  [
    {
      mode: "workspace-write",
      by: "bubblewrap",
      network: true,
      env: ["A", "B_*"],
      rules: [{ effect: "deny", text: "read(\x1bx)" }, { effect: "allow", text: "run_bash(ls)" }],
      file: "/home/u/.config/copilot/permissions.json",
      trust: true,
    },
    [
      "approve  ask",
      "sandbox  workspace-write, by bubblewrap, with network",
      "env      A, B_*",
      "deny     read(␛x)",
      "allow    run_bash(ls)",
      "yours in /home/u/.config/copilot/permissions.json",
      "heeded   what this folder instructs the model (/trust)",
    ],
  ],
  [{ trust: false }, [
    "approve  ask",
    "sandbox  off: a command can do what you can",
    "ignored  what this folder instructs the model (/trust)",
  ]],
];
for (const [change, rows] of REPORTS) {
  Deno.test(`the rows of /permissions: ${JSON.stringify(change).slice(0, 60)}`, () => {
    assertEquals(permissionReportLines({ ...REPORT, ...change }), rows);
  });
}

Deno.test("what becomes of a folder's instructions is said, but not that they were refused by the person", () => {
  const files = [{ name: "AGENTS.md", lines: 1 }, { name: "a/CLAUDE.md", lines: 2 }];
  const names = "AGENTS.md (1 line), a/CLAUDE.md (2 lines)";
  const none = { files: [], refused: [], isHeeded: true };
  assertEquals(instructionLines(none), []);
  assertEquals(instructionLines({ ...none, files }), [`· heeds ${names}`]);
  assertEquals(instructionLines({ ...none, files, isHeeded: false }), []);
  assertEquals(
    instructionLines({
      files,
      refused: [{ name: "\x1bx", reason: "outside" }, { name: "y", reason: "secret" }],
      isHeeded: undefined,
      unsaved: "no room\n",
    }),
    [
      "· ␛x leads out of the folder, and is not heeded",
      "· y leads to what is secret, and is not heeded",
      "· that cannot be kept: no room",
      `· not heeded: ${names} (/trust or --trust does)`,
    ],
  );
  assertEquals(trustQuestion({ type: "trust", files }), {
    text:
      `This folder brings instructions for the model, in the words of whoever wrote them: ${names}.`,
    prompt: "Heed them? [y/n] ",
  });
});
