import { assertEquals, assertRejects } from "@std/assert";
import { findTarget } from "../../../src/tools/search/target.ts";
import { posixTest as test, workspace } from "../workspace.ts";

test("PTH-03 a search takes place where it was granted, not where a link leads by now", async (ws) => {
  const workingDir = Deno.realPathSync(ws.dir);
  for (const folder of ["dir", "other"]) Deno.mkdirSync(ws.at(folder));
  const grant = { realPath: `${workingDir}/dir`, withheld: { folder: "/", paths: [] } };
  const find = () => findTarget({ workingDir, grant }, "dir", "", true);
  assertEquals((await find()).walk.root, `${workingDir}/dir`);
  Deno.removeSync(ws.at("dir"));
  // A link within the working directory, which the policy has not decided on.
  Deno.symlinkSync(ws.at("other"), ws.at("dir"));
  await assertRejects(find, Error, "was replaced meanwhile");
});

test("PTH-06 a pattern's links lead from a granted folder to it and the working directory only", async (ws) => {
  using granted = workspace();
  using other = workspace();
  Deno.mkdirSync(granted.at("in"));
  const file = granted.put("in/a.ts", "a");
  Deno.symlinkSync(granted.at("in"), granted.at("to_in"));
  Deno.symlinkSync(ws.dir, granted.at("to_ws"));
  Deno.symlinkSync(other.dir, granted.at("to_other"));
  const grant = { realPath: granted.dir, withheld: { folder: "/", paths: [] } };
  const find = (glob: string) => findTarget({ workingDir: ws.dir, grant }, granted.dir, glob, true);
  assertEquals((await find("to_in/*.ts")).walk.root, granted.at("in"));
  assertEquals((await find("to_ws/*.ts")).walk.root, ws.dir);
  assertEquals((await find("to_in/a.ts/")).file, file);
  await assertRejects(() => find("to_other/*.ts"), Error, "links are not followed");
});
