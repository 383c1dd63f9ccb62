import { assertEquals } from "@std/assert";
import { permissionsText } from "../../../src/session/commands/permissions.ts";
import type { PermissionReport } from "../../../src/safety/permission_report.ts";

const REPORT: PermissionReport = {
  approve: "ask",
  yes: false,
  mode: "off",
  network: false,
  env: [],
  networked: [],
  rules: [],
};

const REPORTS: [change: Partial<PermissionReport>, rows: string[]][] = [
  [{}, ["approve  ask", "sandbox  off: commands can do everything you can"]],
  [{ yes: true, mode: "read-only", by: "bubblewrap" }, [
    "approve  --yes: everything runs without asking",
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
      rules: [
        { effect: "deny", text: "read(\x1bx)", origin: ".copilot/a" },
        { effect: "allow", text: "run_bash(ls)", origin: "this session" },
      ],
      file: "/home/u/.config/copilot/permissions.json",
    },
    [
      "approve  ask",
      "sandbox  workspace-write, by bubblewrap, with network",
      "env      A, B_*",
      "deny     read(␛x) · .copilot/a",
      "allow    run_bash(ls) · this session",
      "file     /home/u/.config/copilot/permissions.json",
    ],
  ],
  [{ networked: ["a", "b\n"], env: ["A"] }, [
    "approve  ask",
    "sandbox  off: commands can do everything you can",
    "env      A",
    "network  in this session for a, b",
  ]],
  [
    { rules: [{ effect: "ask", text: "run_bash(a)", origin: "this session", isForSandbox: true }] },
    [
      "approve  ask",
      "sandbox  off: commands can do everything you can",
      "ask      run_bash(a) · this session, for the sandbox",
    ],
  ],
];
for (const [change, rows] of REPORTS) {
  Deno.test(`the rows of /permissions: ${JSON.stringify(change).slice(0, 60)}`, () => {
    assertEquals(
      permissionsText({ ...REPORT, ...change }),
      rows.map((row) => `  ${row}`).join("\n"),
    );
  });
}

Deno.test("the rows of /permissions end with those of extensions", () => {
  assertEquals(permissionsText(REPORT, [["hook", "Stop: a\x1b"]]).split("\n").slice(2), [
    "  hook     Stop: a␛",
  ]);
});
