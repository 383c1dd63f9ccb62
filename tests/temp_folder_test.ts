import { assert, assertEquals } from "@std/assert";
import { attempt } from "../src/attempt.ts";
import { makeTempFolder, noTempFiles, removeTempFolder } from "../src/temp_folder.ts";
import { withVariables } from "./helpers/variables.ts";

Deno.test("a state folder and a TMPDIR in which no folder can be made are passed over", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const file = Deno.makeTempFileSync();
  await withVariables({ TMPDIR: file }, () => {
    const folder = makeTempFolder("copilot-test-", () => file);
    assert(Deno.statSync(folder).isDirectory);
    assertEquals(Deno.realPathSync(folder), folder);
    removeTempFolder(folder);
    assertEquals(attempt(() => Deno.statSync(folder)), undefined);
  });
  Deno.removeSync(file);
});

Deno.test("temporary files that cannot be written: the line says what to do", () => {
  const fault = new Error("No space left on device (os error 28): writefile '/t/a'");
  assertEquals(
    noTempFiles("/t", fault).message,
    "Cannot write temporary files in /t (No space left on device): set XDG_STATE_HOME to a folder with room",
  );
});

Deno.test("root neither makes nor uses a folder for temporary files in another user's home", {
  ignore: Deno.uid() !== 0,
}, () => {
  const home = Deno.makeTempDirSync();
  Deno.chownSync(home, 1, 1);
  const folder = () => {
    const made = makeTempFolder("copilot-test-", (name) => name === "HOME" ? home : undefined);
    removeTempFolder(made);
    return made;
  };
  assert(!folder().startsWith(home));
  assertEquals([...Deno.readDirSync(home)], []);
  const own = `${home}/.local/state/copilot-tmp`;
  Deno.mkdirSync(own, { recursive: true });
  assert(folder().startsWith(own));
  Deno.chownSync(own, 1, 1);
  assert(!folder().startsWith(home));
  Deno.removeSync(home, { recursive: true });
});
