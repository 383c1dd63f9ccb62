import { assert, assertEquals } from "@std/assert";
import { makeTempFolder, noTempFiles } from "../src/temp_folder.ts";

Deno.test("a TMPDIR in which no folder can be made is passed over", {
  ignore: Deno.build.os === "windows",
}, () => {
  const before = Deno.env.get("TMPDIR");
  const file = Deno.makeTempFileSync();
  try {
    Deno.env.set("TMPDIR", file);
    const folder = makeTempFolder("copilot-test-");
    assert(Deno.statSync(folder).isDirectory);
    assertEquals(Deno.realPathSync(folder), folder);
    Deno.removeSync(folder);
  } finally {
    if (before === undefined) Deno.env.delete("TMPDIR");
    else Deno.env.set("TMPDIR", before);
    Deno.removeSync(file);
  }
});

Deno.test("temporary files that cannot be written: the line says what to do", () => {
  const fault = new Error("No space left on device (os error 28): writefile '/t/a'");
  assertEquals(
    noTempFiles("/t", fault).message,
    "Cannot write temporary files in /t (No space left on device): set TMPDIR to a folder with room",
  );
});
