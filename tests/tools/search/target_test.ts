import { assertEquals, assertRejects } from "@std/assert";
import { findTarget } from "../../../src/tools/search/target.ts";
import { workspace } from "../workspace.ts";

Deno.test({
  name: "PTH-03 a search takes place where it was granted, not where a link leads by now",
  ignore: Deno.build.os === "windows",
  async fn() {
    using ws = workspace();
    const workingDir = Deno.realPathSync(ws.dir);
    for (const folder of ["dir", "other"]) Deno.mkdirSync(ws.at(folder));
    const grant = { realPath: `${workingDir}/dir`, withheld: { folder: "/", paths: [] } };
    const find = () => findTarget({ workingDir, grant }, "dir", "", true);
    assertEquals((await find()).walk.root, `${workingDir}/dir`);
    Deno.removeSync(ws.at("dir"));
    // A link within the working directory, which the policy has not decided on.
    Deno.symlinkSync(ws.at("other"), ws.at("dir"));
    await assertRejects(find, Error, "was replaced meanwhile");
  },
});
