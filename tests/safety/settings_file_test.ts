import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UsageError } from "../../src/errors.ts";
import { levelOf, PermissionsFile } from "../../src/safety/settings_file.ts";
import { tempFolder } from "../helpers/temp_folder.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

const toolNames = ["read_file", "run_bash"];
const source = { file: "F", toolNames };
const KEYS = "approve, sandbox, network, sandboxRead, sandboxWrite, deny, ask, allow, folders";

test("a level of settings that makes no sense is refused in one line", () => {
  const rows: [value: unknown, must: string][] = [
    [[], "a folder in F as it must be a JSON object"],
    [null, "a folder in F as it must be a JSON object"],
    [{ aprove: "auto" }, `aprove in F as it must be one of ${KEYS}`],
    [
      { folders: [] },
      "folders in F as it must be an object whose keys are absolute paths, without ~",
    ],
    [{ folders: { "/a": {}, "~/b": {} } }, "folders in F as it must be an object whose keys are"],
    [{ approve: "yes" }, "approve in F as it must be one of plan, never, ask, auto"],
    [{ sandbox: true }, "sandbox in F as it must be one of "],
    [{ network: "no" }, "network in F as it must be true or false"],
    [{ network: null }, "network in F as it must be true or false"],
    [{ sandboxRead: "/a" }, "sandboxRead in F as it must be a list of paths from / or ~ on"],
    [{ sandboxRead: ["/a", "b"] }, "sandboxRead in F as it must be a list of paths from / or ~ on"],
    [{ sandboxWrite: [5] }, "sandboxWrite in F as it must be a list of paths from / or ~ on"],
    [{ sandboxWrite: ["~a"] }, "sandboxWrite in F as it must be a list of paths from / or ~ on"],
    [{ deny: "read_file" }, "deny in F as it must be a list of rules"],
    [{ ask: [5] }, "ask in F as it must be a list of rules"],
    // Rules of questions allow, and have no other keys.
    [{ ask: [{ rule: "read_file" }] }, "ask in F as it must be a list of rules"],
    [{ allow: [{ rule: 5 }] }, "allow in F as it must be a list of rules"],
    [{ allow: [{ rule: "run_bash", files: ["a"], more: 1 }] }, "allow in F as it must be a list"],
    [
      { allow: [{ rule: "run_bash", confined: 1 }] },
      "allow in F as it must be a list of rules",
    ],
    [
      { allow: [{ rule: "run_bash", files: { a: 1 } }] },
      "allow in F as it must be a list of rules",
    ],
    [{ allow: ["read_file("] }, 'the rule "read_file(" as it must be the name of a tool'],
    [
      { allow: ["readfile"] },
      'the rule "readfile" as no tool is called readfile: there are read_file, run_bash, read, write, ' +
      "execute, network, * (in F)",
    ],
  ];
  for (const [value, must] of rows) {
    assertThrows(() => levelOf(value, source), UsageError, `Cannot use ${must}`);
  }
});

test("a level of settings: what it holds, and nothing of what it does not", () => {
  assertEquals(levelOf({}, source), { sandboxRead: [], sandboxWrite: [], rules: [] });
  const { rules, ...plain } = levelOf({
    approve: "auto",
    network: false,
    sandboxRead: ["/a"],
    sandboxWrite: ["/b", "~/c"],
    folders: { "/a": 5 },
    allow: ["mcp__any__tool", { rule: "run_bash(a)", confined: true }, "*"],
    deny: ["read"],
    ask: ["read_file(x)"],
  }, { ...source, above: "/top" });
  assertEquals(plain, {
    approve: "auto",
    network: false,
    sandboxRead: ["/a"],
    sandboxWrite: ["/b", `${Deno.env.get("HOME")}/c`],
  });
  assertEquals(
    rules.map(({ effect, text, isForSandbox }) => [effect, text, isForSandbox]),
    [
      ["deny", "read", undefined],
      ["ask", "read_file(/top/x)", undefined],
      ["allow", "mcp__any__tool", undefined],
      ["allow", "run_bash(a)", true],
      ["allow", "*", undefined],
    ],
  );
  assertEquals(rules.map(({ isKept }) => isKept === true), [false, false, false, true, false]);
});

test("the person's file: its levels, and a folder's settings that are saved", async () => {
  using temp = tempFolder();
  const top = temp.path;
  const [path, work] = [`${top}/config/permissions.json`, `${top}/work`];
  await Deno.mkdir(`${work}/deep`, { recursive: true });
  await Deno.symlink(work, `${top}/link`);
  const none = new PermissionsFile(undefined, toolNames, { approve: "auto" });
  assertEquals(none.general().approve, "auto");
  await assertRejects(
    () => none.save(work, () => ({})),
    Error,
    "there is no home folder to save it in",
  );
  const file = new PermissionsFile(path, toolNames, { approve: "auto", network: true } as never);
  assertEquals(await file.save(work, (here) => ({ ...here, network: true })), path);
  assertEquals(await file.save(work, (here) => ({ ask: here.network ? ["read(a)"] : [] })), path);
  assertEquals(
    await Deno.readTextFile(path),
    `${JSON.stringify({ folders: { [work]: { network: true, ask: ["read(a)"] } } }, null, 2)}\n`,
  );
  // What another session wrote meanwhile stays.
  await Deno.writeTextFile(
    path,
    JSON.stringify({ allow: ["read"], folders: { [top]: { deny: ["read(b)"] } } }),
  );
  await file.save(`${top}/link`, () => ({ deny: ["read(c)"] }));
  await file.save(work, () => ({ ask: ["read(d)"] }));
  const again = new PermissionsFile(path, toolNames);
  const texts = ({ rules }: { rules: { text: string }[] }) => rules.map(({ text }) => text);
  assertEquals(texts(await again.general()), ["read"]);
  assertEquals(texts(await again.forFolder(work)), ["read(d)"]);
  assertEquals(texts(await again.forFolder(`${work}/deep`)), []);
  assertEquals((await again.aboveFolder(work)).map(texts), [[`read(${top}/b)`], ["read(c)"]]);
  assertEquals((await again.aboveFolder(`${work}/deep`)).map(texts), [
    [`read(${top}/b)`],
    [`read(${work}/c)`],
    [`read(${work}/d)`],
  ]);
});
