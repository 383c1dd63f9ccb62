import { assertEquals, assertStringIncludes } from "@std/assert";
import { findSandbox } from "../../../src/safety/sandbox/probe.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import { runBash } from "../../../src/tools/shell/run_command.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

const found = await findSandbox();
const ignore = typeof found === "string" || found.by !== "bubblewrap";

/** Runs commands in sandboxes of a folder, with a home folder that has the `there` folders. */
async function inSandbox(
  there: readonly string[],
  use: (
    run: (
      command: string,
      choice?: { network?: boolean; sandbox?: "read-only" },
    ) => Promise<string>,
    home: string,
  ) => Promise<void>,
) {
  using temp = tempFolder();
  const base = temp.path;
  const [home, workingDir] = [`${base}/home`, `${base}/work`];
  for (const path of [workingDir, home, ...there.map((name) => `${home}/${name}`)]) {
    await Deno.mkdir(path, { recursive: true });
  }
  const variables = (name: string) => ({ HOME: home, PATH: Deno.env.get("PATH") })[name];
  await use(async (command, choice = {}) => {
    const permissions = openPermissions(
      { sandbox: "workspace-write", ...choice },
      variables,
    );
    const confine = permissions.confine(() => workingDir);
    const { signal } = new AbortController();
    const { output } = await runBash(
      { command: `HOME='${home}'; ${command}`, timeout_seconds: 60 },
      { workingDir, maxOutputChars: 4000, signal, confine },
    );
    return `${output?.stdout ?? ""}${output?.stderr ?? ""}`;
  }, home);
}

const NAMES =
  "BUN_INSTALL_CACHE_DIR CARGO_HOME CARGO_INSTALL_ROOT DENO_INSTALL_ROOT GOBIN GOPATH " +
  "PIPX_HOME PIPX_MAN_DIR UV_TOOL_BIN_DIR UV_TOOL_DIR XDG_STATE_HOME pnpm_config_store_dir";

Deno.test({
  name:
    "SBX-06 tools that install what they run write to the sandbox's caches, and the folder keeps them",
  ignore,
  fn: () =>
    inSandbox([".local/share/uv/tools", ".local/bin"], async (run, home) => {
      const write = `for name in ${NAMES}; do
        at=\${!name:-unset}; mkdir -p "$at" && echo done > "$at/file" && echo "$name $at"
      done`;
      const said = await run(write);
      assertEquals(said.split("\n").length, NAMES.split(" ").length, said);
      for (const line of said.split("\n")) assertStringIncludes(line, ` ${home}/.cache`);
      assertEquals(await run('cat "$UV_TOOL_DIR/file"'), "done");
      const program = 'echo "echo ran" > "$GOBIN/own-tool"; chmod +x "$GOBIN/own-tool"; own-tool';
      assertEquals(await run(program), "ran");
      // What may not write the folder leaves nothing for what may.
      const readOnly = await run("own-tool || echo none", { sandbox: "read-only" });
      assertStringIncludes(readOnly, "none");
      assertEquals([...Deno.readDirSync(`${home}/.local/share/uv/tools`)], []);
    }),
});

Deno.test({
  name:
    "SBX-06 without a network builds use the person's packages, until what the folder fetched is there",
  ignore,
  fn: () =>
    inSandbox([".cargo/registry", "go/pkg/mod"], async (run, home) => {
      const show = 'echo "${CARGO_HOME-} ${GOMODCACHE-} ${CARGO_NET_OFFLINE-} ${UV_OFFLINE-}"';
      assertEquals(await run(show), "  true 1");
      const own = `${home}/.cache/cargo ${home}/.cache/go/pkg/mod`;
      assertEquals(await run(`${show}; mkdir -p $CARGO_HOME`, { network: true }), `${own}  `);
      assertEquals(await run(show), `${home}/.cache/cargo  true 1`);
    }),
});

Deno.test({
  name: "SBX-06 results of builds in a folder that is read-only go to the sandbox's caches",
  ignore,
  fn: () =>
    inSandbox([], async (run, home) => {
      assertEquals(await run('echo "${CARGO_TARGET_DIR-}"'), "");
      const readOnly = await run('echo "$CARGO_TARGET_DIR"', { sandbox: "read-only" });
      assertEquals(readOnly, `${home}/.cache/target`);
    }),
});
