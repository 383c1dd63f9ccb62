import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { copyAttributes } from "../../../src/tools/files/copy_attributes.ts";
import { writeAtomically, writeReport } from "../../../src/tools/files/atomic_write.ts";
import { grantOfNamed } from "../../../src/tools/files/regular_file.ts";
import {
  hasNobody,
  linuxTest,
  posixTest,
  run,
  RUN_MODULE,
  runAsNobody,
  test,
  testUnless,
  type Workspace,
  workspace,
} from "../workspace.ts";

const posix = Deno.build.os !== "windows";

const missing = async (program: string) =>
  await run(program, "--version").then(() => false, () => true);
const noLists = Deno.build.os !== "linux" || await missing("setfacl") || await missing("setfattr");
const listTest = testUnless(noLists);
const mountTest = testUnless(
  Deno.build.os !== "linux" || Deno.uid() !== 0 || !await mountable(),
);

/** The access list and the extended attributes of a file. */
const rightsOf = async (path: string) =>
  await run("getfacl", "-cpnE", path) + await run("getfattr", "-d", "--absolute-names", path);

/** A file with an access list that gives a user more than the group, and with an attribute. */
async function putListed(ws: Workspace, name: string): Promise<string> {
  ws.put(name, "old", 0o640);
  await run("setfacl", "-m", "u:1234:rw,g::---", ws.at(name));
  await run("setfattr", "-n", "user.note", "-v", "kept", ws.at(name));
  return await rightsOf(ws.at(name));
}

listTest("EDT-01 access list and attributes stay, and its folder adds none", async (ws) => {
  const name = "-f 'g' $(h)";
  const rights = await putListed(ws, name);
  assertStringIncludes(rights, "user:1234:rw-");
  assertStringIncludes(rights, 'user.note="kept"');
  const { ino } = Deno.statSync(ws.at(name));
  assert(!(await ws.edit(name, "old", "new")).includes("in place"));
  assertEquals([ws.text(name), await rightsOf(ws.at(name))], ["new", rights]);
  assert(Deno.statSync(ws.at(name)).ino !== ino);

  ws.put("plain", "old", 0o664);
  const plain = await rightsOf(ws.at("plain"));
  await run("setfacl", "-d", "-m", "u:1234:rw", ws.dir);
  await ws.write("plain", "new");
  assertEquals([ws.text("plain"), await rightsOf(ws.at("plain"))], ["new", plain]);
  assertEquals(ws.names(), [name, "plain"]);
});

testUnless(noLists || !await hasNobody())(
  "EDT-01 attributes that only root may set stay, too (needs root and open folders)",
  async (ws) => {
    const rights = await putListed(ws, "f");
    for (const path of [ws.dir, ws.at("f")]) Deno.chownSync(path, 65534, 65534);
    const module = import.meta.resolve("../../../src/tools/write_file.ts");
    const write = () =>
      runAsNobody(
        ws.dir,
        `import { writeFile } from "${module}";
      const { signal } = new AbortController();
      const context = { workingDir: Deno.cwd(), maxOutputChars: 1000, signal };
      const result = await writeFile({ file_path: "f", content: "new" }, context);
      console.log(result.content);`,
      );
    assertEquals(await write(), "Replaced f: wrote 3 bytes\n");
    assertEquals([ws.text("f"), await rightsOf(ws.at("f"))], ["new", rights]);

    await run("setfattr", "-n", "security.note", "-v", "kept", ws.at("f"));
    const noted = () => run("getfattr", "-n", "security.note", "--absolute-names", ws.at("f"));
    const note = await noted();
    assertStringIncludes(await write(), "; written in place as its access list and attributes");
    assertEquals([await rightsOf(ws.at("f")), await noted()], [rights, note]);
    assert(!ws.names().some((name) => name.endsWith(".tmp")));
  },
);

posixTest("EDT-07 killed at any moment, an edit leaves the old bytes or the new", async (ws) => {
  const size = 8_000_000;
  const contents = ["marker 0\n", "marker 1\n"].map((line) => line.padEnd(size, "a"));
  ws.put("f", contents[0]!);
  const module = import.meta.resolve("../../../src/tools/edit_file.ts");
  ws.put(
    "edits.ts",
    `import { editFile } from "${module}";
    const signal = new AbortController().signal;
    const context = { workingDir: Deno.args[0], maxOutputChars: 1000, signal };
    const has = (n) => new TextDecoder().decode(Deno.readFileSync("f").subarray(0, 8)).endsWith(n);
    for (let n = has("0") ? 0 : 1;; n = 1 - n) {
      await editFile({
        file_path: "f",
        old_string: "marker " + n + "\\n",
        new_string: "marker " + (1 - n) + "\\n",
        replace_all: false,
      }, context);
      console.log("edited");
    }`,
  );
  for (let kill = 0; kill < 8; kill++) {
    const child = new Deno.Command(RUN_MODULE[0], {
      args: [...RUN_MODULE.slice(1), ws.at("edits.ts"), ws.dir],
      cwd: ws.dir,
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    // After an edit or two it is killed, each time at another point of the next one.
    const reader = child.stdout.getReader();
    for (let edit = 0; edit <= kill % 2; edit++) await reader.read();
    await new Promise((resolve) => setTimeout(resolve, kill * 5));
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    assert(contents.includes(ws.text("f")), `${ws.bytes("f").length} bytes`);
  }
  const left = ws.names().filter((name) => name !== "f" && name !== "edits.ts");
  assert(left.every((name) => /^\.copilot-[\da-f-]+\.tmp$/.test(name)), left.join());
});

// A file system of its own is needed, and root to mount one.
mountTest("EDT-07 a full disk leaves no trace (needs root and tmpfs)", async (ws) => {
  ws.put("disk/");
  await run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", ws.at("disk"));
  try {
    const old = "o".repeat(400_000);
    ws.put("disk/f", old);
    ws.put("disk/linked", old);
    await Deno.link(ws.at("disk/linked"), ws.at("disk/other"));
    // As a rename (no room for both), and in place (more than there is room for at all).
    const rows = [["f", 400_000], ["linked", 900_000], ["new", 900_000]] as const;
    for (const [name, length] of rows) {
      const writing = ws.write(`disk/${name}`, "n".repeat(length));
      await assertRejects(() => writing, Error, "No space left on device", name);
      assertEquals([ws.text("disk/f") === old, ws.text("disk/other") === old], [true, true]);
      assertEquals(ws.names("disk"), ["f", "linked", "other"]);
    }
  } finally {
    await run("umount", ws.at("disk"));
  }
});

posixTest("EDT-07 a file over the limit for files keeps the old bytes", async (ws) => {
  ws.put("f", "old");
  ws.put("linked", "old");
  await Deno.link(ws.at("linked"), ws.at("other"));
  const module = (path: string) => import.meta.resolve(`../../../src/${path}`);
  ws.put(
    "script.ts",
    `import { writeFile } from "${module("tools/write_file.ts")}";
      import { onSignals } from "${module("cli/process.ts")}";
      onSignals(() => {});
      const { signal } = new AbortController();
      const context = { workingDir: Deno.args[0], maxOutputChars: 1000, signal };
      for (const file_path of ["f", "linked", "new"]) {
        await writeFile({ file_path, content: "n".repeat(50e6) }, context)
          .catch(({ message }) => console.log(message));
      }
      Deno.exit();`,
  );
  // With caches of its own, as Deno writes to them, too: shared ones may be over the limit.
  const limited = 'export DENO_DIR="$0"; ulimit -f 30000; exec "$@"';
  const args = [...RUN_MODULE, ws.at("script.ts"), ws.dir];
  const said = await run("sh", "-c", limited, ws.at("cache"), ...args);
  const lines = ["f", "linked", "new"].map((name) => `Cannot write ${name}: File too large\n`);
  assertEquals(said, lines.join(""));
  assertEquals([ws.text("f"), ws.text("other")], ["old", "old"]);
  assertEquals(ws.names(), ["cache", "f", "linked", "other", "script.ts"]);
});

async function mountable(): Promise<boolean> {
  const dir = Deno.makeTempDirSync();
  try {
    await run("mount", "-t", "tmpfs", "tmpfs", dir);
    await run("umount", dir);
    return true;
  } catch {
    return false;
  } finally {
    Deno.removeSync(dir);
  }
}

posixTest("SEC-04 temporary files are new, private, and in the target's own folder", async (ws) => {
  ws.put("real/secret", "old", 0o600);
  await Deno.symlink("real/secret", ws.at("link"));
  // What an attacker could prepare: a link under each temporary name that was ever used.
  const seen = new Map<string, number>();
  const opened: string[] = [];
  const open = Deno.open;
  Deno.open = async (path, options) => {
    const file = await open(path, options);
    if (options?.createNew) {
      opened.push(String(path));
      seen.set(String(path), (await file.stat()).mode! & 0o777);
    }
    return file;
  };
  try {
    await writeAtomically(ws.at("link"), "link", new Uint8Array(10), undefined);
    await writeAtomically(ws.at("link"), "link", new Uint8Array(20), undefined);
  } finally {
    Deno.open = open;
  }
  assertEquals(seen.size, 2);
  assertEquals([...seen.values()], [0o600, 0o600]);
  for (const path of opened) assert(path.startsWith(ws.at("real/.copilot-")), path);
  assertEquals(ws.names("real"), ["secret"]);
});

test("errors of the system are told in one line that names the file as the model knows it", async (ws) => {
  const long = `${"x".repeat(300)}`;
  const error = await assertRejects(() =>
    writeAtomically(ws.at(long), "the-name", new Uint8Array(), undefined)
  );
  assertStringIncludes((error as Error).message, "Cannot write the-name: ");
  assert(!(error as Error).message.includes("os error"));
});

test("edits of one file side by side in one process all last, also under other names", async (ws) => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i};\n`);
  ws.put("f", lines.join(""));
  await Deno.symlink("f", ws.at("link"));
  const edits = lines.map((_, i) =>
    ws.edit(i % 2 === 0 ? "f" : "link", `line ${i};`, `edited ${i};`)
  );
  await Promise.all(edits);
  assertEquals(ws.text("f"), lines.join("").replaceAll("line", "edited"));
  const results = await Promise.all([1, 2, 3].map((n) => ws.write("new/f", `${n}`)));
  assertEquals(results.map((result) => result.split(" ")[0]), ["Created", "Replaced", "Replaced"]);
  assertEquals(ws.text("new/f"), "3");
});

/** Runs `write` while `other` does its work between the reading of a file and the writing. */
async function meanwhile(write: () => Promise<string>, other: () => void): Promise<string> {
  const open = Deno.open;
  Deno.open = async (path, options) => {
    const file = await open(path, options);
    if (options?.write) {
      Deno.open = open;
      other();
    }
    return file;
  };
  try {
    return await write();
  } finally {
    Deno.open = open;
  }
}

// Each row: what another program does to the file once it was read, and what it then holds.
Deno.test.each([
  ["writes it", (path: string) => Deno.writeTextFileSync(path, "theirs\n"), "theirs\n"],
  ["replaces it", (path: string) => {
    Deno.writeTextFileSync(`${path}2`, "theirs\n");
    Deno.renameSync(`${path}2`, path);
  }, "theirs\n"],
  ["appends to it", (path: string) => Deno.writeTextFileSync(path, "b", { append: true }), "a\nb"],
  ["writes as much in the same moment", (path: string) => {
    const { atime, mtime } = Deno.statSync(path);
    Deno.writeTextFileSync(path, "b\n");
    Deno.utimeSync(path, atime!, mtime!);
  }, "b\n"],
  ["removes it", (path: string) => Deno.removeSync(path), undefined],
])("a change by another program is not lost: it %s", async (_name, change, content) => {
  for (const links of posix ? [1, 2] : [1]) {
    for (const tool of ["edit", "write"]) {
      using ws = workspace();
      ws.put("f", "a\n");
      if (links === 2) Deno.linkSync(ws.at("f"), ws.at("linked"));
      const names = ws.names().filter((name) => name !== "f" || content !== undefined);
      const write = tool === "edit"
        ? () => ws.edit("f", "a", "ours")
        : () => ws.write("f", "ours\n");
      await assertRejects(
        () => meanwhile(write, () => change(ws.at("f"))),
        Error,
        `f as it changed on disk since it was read: read it again`,
        `${tool}, ${links} links`,
      );
      assertEquals(ws.names(), names);
      if (content !== undefined) assertEquals(ws.text("f"), content);
    }
  }
});

test("PTH-05 a FIFO that takes the place of a file meanwhile is not waited for", async () => {
  for (const links of [1, 2]) {
    using ws = workspace();
    ws.put("f", "a\n");
    if (links === 2) Deno.linkSync(ws.at("f"), ws.at("linked"));
    const writing = meanwhile(() => ws.edit("f", "a", "b"), () => {
      Deno.removeSync(ws.at("f"));
      new Deno.Command("mkfifo", { args: [ws.at("f")] }).outputSync();
    });
    await assertRejects(() => writing, Error, "Cannot write f as it changed on disk");
    assertEquals(ws.names(), links === 2 ? ["f", "linked"] : ["f"]);
  }
});

posixTest(
  "EDT-01 what cannot copy its attributes is written in place, without waiting for a pipe",
  async (ws) => {
    ws.put("f", "old");
    ws.put("new", "");
    await run("mkfifo", ws.at("never"));
    using _open = Deno.openSync(ws.at("new"));
    const file = (name: string) => ({ ...Deno.lstatSync(ws.at(name)), path: ws.at(name) });
    const copy = (from: string) =>
      copyAttributes({ ...file("f"), path: ws.at(from) }, file("new"), undefined);
    const why = "its access list and attributes would have been lost otherwise";
    assertEquals(await copy("f"), undefined);
    assertEquals(await copy("none"), why);
    const begun = performance.now();
    assertEquals(await copy("never"), why);
    assertEquals(performance.now() - begun < 5000, true);
  },
);

posixTest("a file that could neither be written nor put back is said to be damaged", async (ws) => {
  ws.put("f", "old");
  await Deno.link(ws.at("f"), ws.at("linked"));
  const { write } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.write = () => Promise.reject(new Error("I/O error (os error 5)"));
  try {
    const writing = ws.write("f", "new");
    await assertRejects(
      () => writing,
      Error,
      "Cannot write f: I/O error. Its content could not be restored: it may be damaged, tell the user",
    );
  } finally {
    Deno.FsFile.prototype.write = write;
  }
});

mountTest("a file that is mounted by itself is written in place (needs root)", async (ws) => {
  ws.put("source", "old\n", 0o640);
  for (const name of ["open/f", "closed/f"]) {
    ws.put(name, "");
    await run("mount", "--bind", ws.at("source"), ws.at(name));
  }
  // As containers do: a writable file in a folder that is not.
  await run("mount", "--bind", ws.at("closed"), ws.at("closed"));
  await run("mount", "--bind", ws.at("source"), ws.at("closed/f"));
  await run("mount", "-o", "remount,bind,ro", ws.at("closed"));
  try {
    for (const name of ["open/f", "closed/f"]) {
      assertStringIncludes(await ws.edit(name, "old", "new"), "Replaced 1 match");
      assertEquals([ws.text("source"), ws.names("open")], ["new\n", ["f"]]);
      await ws.write(name, "old\n");
      assertEquals([ws.text("source"), ws.names("open")], ["old\n", ["f"]]);
    }
    assertEquals(Deno.statSync(ws.at("source")).mode! & 0o777, 0o640);
    await assertRejects(
      () => ws.write("closed/new", ""),
      Error,
      "Cannot write closed/new: Read-only file system",
    );
  } finally {
    for (const name of ["closed/f", "closed", "closed/f", "open/f"]) {
      await run("umount", ws.at(name));
    }
  }
});

Deno.test("the report of a write: its notes for the model, its facts as data, no facts where there are none", () => {
  const plain = { realPath: "/r", created: false, linked: false };
  const both = { keeps: ["CRLF", "BOM"], isReindented: true } as const;
  type Row = [
    written: Parameters<typeof writeReport>[1],
    facts: object,
    content: string,
    data?: object,
  ];
  const rows: Row[] = [
    [plain, {}, "wrote"],
    [{ ...plain, linked: true }, {}, "wrote; the link leads to /r", { linkedTo: "/r" }],
    [{ ...plain, inPlace: "it is odd" }, {}, "wrote; written in place as it is odd", {
      inPlace: "it is odd",
    }],
    [
      { ...plain, linked: true, inPlace: "x" },
      both,
      "wrote; old_string differed in indentation, and new_string was indented as the file is; its CRLF " +
      "line endings were kept; its BOM was kept; the link leads to /r; written in place as x",
      { ...both, linkedTo: "/r", inPlace: "x" },
    ],
  ];
  for (const [written, facts, content, data] of rows) {
    assertEquals<object>(writeReport("wrote", written, facts), {
      content,
      ...data && { written: data },
    });
  }
});

linuxTest("EDT-01 a link in place of the temporary file changes no file outside", async (ws) => {
  ws.put("work/");
  ws.put("outside", "", 0o600);
  const swap = `$| = 1; alarm 60; print "begun";
    for (;;) { for (glob(".copilot-*.tmp")) { unlink; symlink "../outside", $_ } }`;
  const swapper = new Deno.Command("perl", {
    args: ["-e", swap],
    cwd: ws.at("work"),
    stdout: "piped",
  }).spawn();
  const reader = swapper.stdout.getReader();
  await reader.read();
  for (let i = 0; i < 20; i++) {
    ws.put(`work/${i}`, "old", 0o666);
    await writeAtomically(ws.at(`work/${i}`), "f", new Uint8Array(1), undefined).catch(() => {});
  }
  swapper.kill("SIGKILL");
  await reader.cancel();
  await swapper.status;
  assertEquals(Deno.statSync(ws.at("outside")).mode! & 0o777, 0o600);
});

posixTest("a new file is not made where a link leads that a job made meanwhile", async (ws) => {
  ws.put("out/");
  const { signal } = new AbortController();
  signal.throwIfAborted = () => Deno.symlinkSync(ws.at("out"), ws.at("new"));
  const context = { signal, grant: grantOfNamed(ws.at("new")) };
  const bytes = new TextEncoder().encode("one");
  const write = () => writeAtomically(ws.at("new"), "new", bytes, undefined, context);
  await assertRejects(write, Error, "it changed on disk");
  assertEquals([...Deno.readDirSync(ws.at("out"))], []);
});

posixTest("a copy of attributes leaves out the set-user-id of a link's target", async (ws) => {
  for (const name of ["f", "new"]) ws.put(name, "");
  ws.put("program", "", 0o755);
  Deno.chmodSync(ws.at("program"), 0o6755);
  const old = { ...Deno.lstatSync(ws.at("f")), path: ws.at("f") };
  Deno.removeSync(ws.at("f"));
  Deno.symlinkSync("program", ws.at("f"));
  const made = { ...Deno.lstatSync(ws.at("new")), path: ws.at("new") };
  using _open = Deno.openSync(ws.at("new"));
  assertEquals(await copyAttributes(old, made, undefined), undefined);
  assertEquals(Deno.lstatSync(ws.at("new")).mode! & 0o7777, 0o755);
});
