import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";

const root = fromFileUrl(new URL("../..", import.meta.url));

/** The permissions of scripts/copilot and of the compiled program, which the other tests do not run with. */
async function permissions(): Promise<string[]> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", ". scripts/permissions; echo $PERMISSIONS"],
    cwd: root,
  }).output();
  return new TextDecoder().decode(stdout).trim().split(" ");
}

Deno.test({
  name: "with its own permissions the program finds out whether it can confine, and remembers it",
  ignore: Deno.build.os === "windows",
  async fn() {
    const flags = await permissions();
    const folder = await Deno.makeTempDir();
    try {
      for (const mode of ["auto", "ask"]) {
        const { code, stderr } = await new Deno.Command(Deno.execPath(), {
          args: [
            "run",
            ...flags,
            `${root}/main.ts`,
            "--demo",
            "--approve",
            mode,
            "-p",
            'Run "true"',
          ],
          cwd: folder,
          env: {
            NO_COLOR: "1",
            DENO_NO_UPDATE_CHECK: "1",
            XDG_CONFIG_HOME: `${folder}/config`,
            XDG_STATE_HOME: `${folder}/state`,
          },
          stdin: "null",
        }).output();
        assertEquals([[0, 3].includes(code), /access/.test(new TextDecoder().decode(stderr))], [
          true,
          false,
        ], mode);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
