import { assertEquals } from "@std/assert/equals";
import { assertStringIncludes } from "@std/assert/string-includes";
import { ensureDir } from "@std/fs/ensure-dir";
import { existsSync } from "@std/fs/exists";
import { fromFileUrl } from "@std/path/from-file-url";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));
const ignore = Deno.build.os === "windows"; // no sh, no links

/** The commands that the scripts need beside Deno and npm; a machine has them all. */
const TOOLS = "cat chmod dirname find grep head ln mkdir mv pwd readlink rm sed sh tail test uname";

interface Project extends AsyncDisposable {
  root: string;
  /** A folder with TOOLS and the commands of the test: the whole PATH of `run`. */
  bin: string;
  run(script: string, args?: string[], cwd?: string): Promise<{ code: number; text: string }>;
}

/** A copy of the scripts in a folder with spaces, where neither Deno nor npm is to be found. */
async function project(): Promise<Project> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "set up " }));
  const root = `${folder}/project`;
  const bin = `${folder}/bin`;
  await ensureDir(`${root}/scripts/std_fallback`);
  await Deno.mkdir(bin);
  const files = [
    "deno.json",
    "deno.lock",
    "scripts/setup",
    "scripts/copilot",
    "scripts/permissions",
  ];
  for (const file of files) await Deno.copyFile(`${ROOT}/${file}`, `${root}/${file}`);
  for (const tool of TOOLS.split(" ")) {
    const found = ["/bin", "/usr/bin"].map((dir) => `${dir}/${tool}`).find((path) =>
      existsSync(path)
    );
    if (found) await Deno.symlink(found, `${bin}/${tool}`);
  }
  return {
    root,
    bin,
    async run(script, args = [], cwd = folder) {
      const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
        args: [script, ...args],
        cwd,
        clearEnv: true,
        env: { PATH: bin, JSR_URL: "http://127.0.0.1:9/" },
      }).output();
      const decoder = new TextDecoder();
      return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const script = (body: string) => `#!/bin/sh\n${body}\n`;
const HINT = "Deno 2.9 or newer on PATH does as well: https://deno.com\n";

const ROWS: [name: string, commands: Record<string, string>, text: string][] = [
  [
    "neither Deno nor npm",
    {},
    `setup: Cannot install Deno as npm must be on PATH: it is not found. ${HINT}`,
  ],
  [
    "a Deno that is too old, no npm",
    { deno: "exit 0" },
    `setup: Cannot install Deno as npm must be on PATH: it is not found. ${HINT}`,
  ],
  [
    "npm without its registry",
    {
      node: "echo linux-x64",
      npm:
        `[ "$1" = config ] || { printf 'npm error code E\\nnpm error network down: no answer\\n'; exit 1; }`,
    },
    "setup: installing @deno/linux-x64-glibc@2.9.6 from npm\n" +
    `setup: Cannot install @deno/linux-x64-glibc@2.9.6 as npm failed: network down: no answer. ${HINT}`,
  ],
  [
    "a binary that does not start",
    {
      node: "echo darwin-arm64",
      npm: `[ "$1" = config ] || { mkdir -p node_modules/@deno/darwin-arm64
        echo 'exit 1' >node_modules/@deno/darwin-arm64/deno; }`,
    },
    "setup: installing @deno/darwin-arm64@2.9.6 from npm\n" +
    `setup: Cannot run the Deno of @deno/darwin-arm64 here, or the disk is full. ${HINT}`,
  ],
];

for (const [name, commands, text] of ROWS) {
  Deno.test({
    name: `setup: ${name}`,
    ignore,
    async fn() {
      await using made = await project();
      for (const [command, body] of Object.entries(commands)) {
        await Deno.writeTextFile(`${made.bin}/${command}`, script(body), { mode: 0o755 });
      }
      assertEquals(await made.run(`${made.root}/scripts/setup`), { code: 1, text });
      // A later run finds nothing that looks like a finished set-up.
      assertEquals([...Deno.readDirSync(`${made.root}/.deno`)].map(({ name }) => name), ["bin"]);
      assertEquals([...Deno.readDirSync(`${made.root}/.deno/bin`)], []);
    },
  });
}

Deno.test({
  name: "copilot: set up, it starts Deno in the caller's folder, also through links",
  ignore,
  async fn() {
    await using made = await project();
    await ensureDir(`${made.root}/.deno/bin`);
    await Deno.mkdir(`${made.root}/vendor`);
    const deno = script(`pwd; printf '%s\\n' "$@"`);
    await Deno.writeTextFile(`${made.root}/.deno/bin/deno`, deno, { mode: 0o755 });
    await Deno.writeTextFile(`${made.root}/.deno/ready`, "");
    assertEquals(await made.run(`${made.root}/scripts/setup`), { code: 0, text: "" });

    await Deno.symlink("../project/scripts/copilot", `${made.bin}/link`);
    const { code, text } = await made.run(`${made.bin}/link`, ["-p", "two  words"], made.bin);
    const [cwd, ...args] = text.trimEnd().split("\n");
    assertEquals([code, cwd], [0, made.bin]);
    assertEquals(args.slice(-3), [`${made.root}/main.ts`, "-p", "two  words"]);
    assertStringIncludes(args.join(" "), `--config ${made.root}/deno.json --`);
    assertEquals(args.includes("--no-prompt"), true);
    assertEquals(args.filter((arg) => /^-A$|allow-(all|ffi|sys)/.test(arg)), []);
  },
});

Deno.test({
  name: "copilot: what changed since the set-up is set up again",
  ignore,
  async fn() {
    await using made = await project();
    await ensureDir(`${made.root}/.deno/bin`);
    await Deno.mkdir(`${made.root}/vendor`);
    await Deno.writeTextFile(`${made.root}/.deno/bin/deno`, script("exit 0"), { mode: 0o755 });
    await Deno.writeTextFile(`${made.root}/.deno/ready`, "");
    await Deno.utime(`${made.root}/.deno/ready`, new Date(0), new Date(0));
    const { code, text } = await made.run(`${made.root}/scripts/copilot`);
    assertEquals([code, text], [
      1,
      `setup: Cannot install Deno as npm must be on PATH: it is not found. ${HINT}`,
    ]);
  },
});

Deno.test({
  name: "TTY-06 copilot: a stdout that is closed from the start is said, with exit code 1",
  ignore,
  async fn() {
    const copilot = `${ROOT}scripts/copilot`;
    const { code, stderr } = await new Deno.Command("sh", {
      args: ["-c", 'exec "$1" --version >&-', "sh", copilot],
    }).output();
    assertEquals(
      [code, new TextDecoder().decode(stderr)],
      [1, "copilot: cannot write to stdout: it is closed\n"],
    );
  },
});
