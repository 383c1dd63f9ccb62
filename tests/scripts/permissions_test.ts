import { assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { launchFlags } from "../../scripts/bench_tools.ts";
import { bash, strictServer } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

const root = fromFileUrl(new URL("../..", import.meta.url));

/** The permissions of scripts/copilot and of the compiled program, which the other tests do not run with. */
async function permissions(): Promise<string[]> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", ". scripts/permissions; echo $PERMISSIONS"],
    cwd: root,
  }).output();
  return new TextDecoder().decode(stdout).trim().split(" ");
}

test("with its own permissions the program finds out whether it can confine, and remembers it", async () => {
  const flags = await permissions();
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/work`);
  for (const mode of ["auto", "ask"]) {
    await using server = strictServer([bash("echo $DENO_DIR.$NODE_OPTIONS."), { text: "Done." }]);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        ...flags,
        `${root}/main.ts`,
        "--local",
        "--host",
        server.url,
        ...["--env", "NODE_OPTIONS", "--approve"],
        mode,
        "-p",
        "Run it",
      ],
      cwd: `${folder}/work`,
      env: {
        NO_COLOR: "1",
        DENO_NO_UPDATE_CHECK: "1",
        XDG_CONFIG_HOME: `${folder}/config`,
        XDG_STATE_HOME: `${folder}/state`,
        COPILOT_DENO_DIR: "/tmp/mine",
        COPILOT_NODE_OPTIONS: "--enable-source-maps",
      },
      stdin: "null",
    }).output();
    assertEquals([[0, 3].includes(code), /access/.test(new TextDecoder().decode(stderr))], [
      true,
      false,
    ], mode);
    // The variables of the user, not those of scripts/copilot.
    if (code === 0) {
      assertMatch(JSON.stringify(server.requests[1]), /\/tmp\/mine\.--enable-source-maps\./);
    }
  }
});

test("V8 knows the flags that it is given; a Deno that the set-up did not install gets fewer", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/scripts`);
  await Deno.copyFile(`${root}/scripts/permissions`, `${folder}/scripts/permissions`);
  await Deno.mkdir(`${folder}/.deno/bin`, { recursive: true });
  const all = await launchFlags(folder);
  const { code } = await new Deno.Command(Deno.execPath(), { args: ["eval", all, "0"] }).output();
  assertEquals(code, 0);
  await Deno.symlink(Deno.execPath(), `${folder}/.deno/bin/deno`);
  const few = await launchFlags(folder);
  assertEquals([all.startsWith(`${few},`), few.includes("semi-space")], [true, true]);
});
