import { assertEquals } from "@std/assert/equals";
import { assertStringIncludes } from "@std/assert/string-includes";
import { ensureDir } from "@std/fs/ensure-dir";
import { existsSync } from "@std/fs/exists";
import { fromFileUrl } from "@std/path/from-file-url";
import { run } from "../tools/workspace.ts";
import { waitUntil } from "../helpers/wait_until.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));
const ignore = Deno.build.os === "windows"; // no sh, no links

/** The commands that the scripts need beside Deno and npm; a machine has them all. */
const TOOLS =
  "cat chmod dirname find grep head ln mkdir mktemp mv pwd readlink rm sed sh sort tail test touch uname";

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
        env: { PATH: bin, DENO_DIR: `${bin}/deno`, JSR_URL: "http://127.0.0.1:9/" },
      }).output();
      const decoder = new TextDecoder();
      return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const script = (body: string) => `#!/bin/sh\n${body}\n`;
const HINT = "Deno 2.9 or newer on PATH does as well: https://deno.com\n";
const SETUP = await Deno.readTextFile(`${ROOT}scripts/setup`);
const [, DENO] = SETUP.match(/^DENO=(.+)$/m)!;

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
    `setup: installing @deno/linux-x64-glibc@${DENO} from npm\n` +
    `setup: Cannot install @deno/linux-x64-glibc@${DENO} as npm failed: network down: no answer. ${HINT}`,
  ],
  [
    "R-17 a platform without a known hash",
    { node: "echo sunos-x64", npm: "echo npm was called; exit 1" },
    `setup: Cannot install @deno/sunos-x64@${DENO} as its SHA-512 must be known: it is not. ${HINT}`,
  ],
];

for (const [name, commands, text] of ROWS) {
  test(`setup: ${name}`, async () => {
    await using made = await project();
    for (const [command, body] of Object.entries(commands)) {
      await Deno.writeTextFile(`${made.bin}/${command}`, script(body), { mode: 0o755 });
    }
    assertEquals(await made.run(`${made.root}/scripts/setup`), { code: 1, text });
    // A later run finds nothing that looks like a finished set-up.
    assertEquals([names(`${made.root}/.deno`), names(`${made.root}/.deno/bin`)], [["bin"], []]);
  });
}

const npm = ["npm", "node"].map((command) =>
  (Deno.env.get("PATH") ?? "").split(":").map((dir) => `${dir}/${command}`).find((path) =>
    existsSync(path)
  )
);
const noNpm = npm.includes(undefined) ? "npm is not found" : "";

/** The package with the Deno of this system. */
const PACKAGE = `@deno/${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}` +
  (Deno.build.os === "linux" ? "-glibc" : "");

interface Registry extends AsyncDisposable {
  /** SHA-512 of the tarball, as base64. */
  hash: string;
}

/** Gives `made` the real npm, with a registry on loopback: each package there holds `deno`. */
async function registry(made: Project, deno: string): Promise<Registry> {
  const packages = `${made.bin}/../registry`;
  await ensureDir(`${packages}/package`);
  const manifest = JSON.stringify({ name: PACKAGE, version: DENO });
  await Deno.writeTextFile(`${packages}/package/package.json`, manifest);
  await Deno.writeTextFile(`${packages}/package/deno`, deno, { mode: 0o755 });
  await run("tar", "-czf", `${packages}/x.tgz`, "-C", packages, "package");
  const tarball = await Deno.readFile(`${packages}/x.tgz`);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-512", tarball)).toBase64();

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    const { origin, pathname } = new URL(url);
    if (pathname === "/x.tgz") return new Response(tarball);
    const name = decodeURIComponent(pathname.slice(1));
    const dist = { tarball: `${origin}/x.tgz`, integrity: `sha512-${hash}` };
    const versions = Object.fromEntries(
      [DENO, "1.4.0"].map((version) => [version, { name, version, dist }]),
    );
    return Response.json({ name, "dist-tags": { latest: DENO }, versions });
  });
  const settings = [
    `npm_config_registry=http://127.0.0.1:${server.addr.port}/`,
    `npm_config_cache='${made.bin}/../cache'`,
    "npm_config_userconfig=/dev/null",
  ].join(" ");
  const [realNpm, node] = npm as [string, string];
  await Deno.writeTextFile(`${made.bin}/npm`, script(`${settings} exec '${realNpm}' "$@"`), {
    mode: 0o755,
  });
  await Deno.symlink(node, `${made.bin}/node`);
  await Deno.symlink("/usr/bin/env", `${made.bin}/env`);
  return { hash, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** The hash that scripts/setup names for a package. */
function known(name: string): string {
  return SETUP.split("\n").find((line) => line.startsWith(`${name} `))?.split(" ")[1] ?? "none";
}

/** A test with the real npm; `fn` gets a registry whose Deno does `body`. */
function withRegistry(
  name: string,
  body: string,
  fn: (made: Project, hash: string) => Promise<void>,
): void {
  Deno.test(
    `setup: ${name}${noNpm && ` (skipped: ${noNpm})`}`,
    { ignore: ignore || noNpm !== "" },
    async () => {
      await using made = await project();
      await using served = await registry(made, script(body));
      await fn(made, served.hash);
    },
  );
}

/** Has the copy of scripts/setup in `made` know `hash` for the Deno of this system. */
async function know(made: Project, hash: string): Promise<void> {
  const text = SETUP.replaceAll(known(`${PACKAGE}@$DENO`), hash);
  await Deno.writeTextFile(`${made.root}/scripts/setup`, text);
}

const installing = `setup: installing ${PACKAGE}@${DENO} from npm\n`;
const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

withRegistry(
  "R-17 a Deno with another hash than the known one is neither installed nor run",
  // In the project's folder, where scripts/setup runs what it got.
  "echo ran >ran; echo ran",
  async (made, hash) => {
    const wanted = known(`${PACKAGE}@$DENO`);
    assertEquals(await made.run(`${made.root}/scripts/setup`), {
      code: 1,
      text: installing +
        `setup: Cannot install ${PACKAGE}@${DENO} as its SHA-512 must be ${wanted}: ` +
        `it is ${hash}. ${HINT}`,
    });
    assertEquals(existsSync(`${made.root}/ran`), false);
    assertEquals([names(`${made.root}/.deno`), names(`${made.root}/.deno/bin`)], [["bin"], []]);
  },
);

// It answers what a Deno is asked before the packages come, and no other program.
const ANSWERS = `case $* in *Deno.version.deno*) echo "$0" ;; *) exit 1 ;; esac`;

withRegistry(
  "R-17 with the known hash it is installed; the @std packages with another one are not",
  ANSWERS,
  async (made, hash) => {
    await know(made, hash);
    const { code, text } = await made.run(`${made.root}/scripts/setup`);
    assertEquals([code, text], [
      1,
      installing + "setup: installing deno-std@1.4.0 from npm\n" +
      `setup: Cannot install deno-std@1.4.0 as its SHA-512 must be ${known("$STD")}: ` +
      `it is ${hash}. JSR does as well, but https://jsr.io does not answer\n`,
    ]);
    assertEquals(names(`${made.root}/.deno`), ["bin"]);
    assertEquals(await Deno.readTextFile(`${made.root}/.deno/bin/deno`), script(ANSWERS));
  },
);

withRegistry("a binary that does not start", "exit 1", async (made, hash) => {
  await know(made, hash);
  assertEquals(await made.run(`${made.root}/scripts/setup`), {
    code: 1,
    text: installing +
      `setup: Cannot run the Deno of ${PACKAGE} here, or the disk is full. ${HINT}`,
  });
  assertEquals([names(`${made.root}/.deno`), names(`${made.root}/.deno/bin`)], [["bin"], []]);
});

test("copilot: set up, it starts Deno in the caller's folder, also through links", async () => {
  await using made = await project();
  await ensureDir(`${made.root}/.deno/bin`);
  await Deno.mkdir(`${made.root}/vendor`);
  const deno = script(`pwd; echo "$COPILOT_DENO_DIR $DENO_DIR"; printf '%s\\n' "$@"`);
  await Deno.writeTextFile(`${made.root}/.deno/bin/deno`, deno, { mode: 0o755 });
  await Deno.writeTextFile(`${made.root}/.deno/ready`, "");
  assertEquals(await made.run(`${made.root}/scripts/setup`), { code: 0, text: "" });

  await Deno.symlink("../project/scripts/copilot", `${made.bin}/link`);
  const { code, text } = await made.run(`${made.bin}/link`, ["-p", "two  words"], made.bin);
  const [cwd, caches, ...args] = text.trimEnd().split("\n");
  assertEquals([code, cwd], [0, made.bin]);
  // Not where the user's variable leads: commands may write there.
  assertEquals(caches, `${made.bin}/deno ${made.root}/.deno/cache`);
  assertEquals(args.slice(-3), [`${made.root}/main.ts`, "-p", "two  words"]);
  assertStringIncludes(args.join(" "), `--config ${made.root}/deno.json --`);
  assertEquals(args.includes("--no-prompt"), true);
  assertEquals(args.filter((arg) => /^-A$|allow-(all|ffi)|^--allow-sys$/.test(arg)), []);
});

Deno.test("copilot: a bundle is made of the sources, again where one is newer, and runs", {
  ignore,
}, async () => {
  await using made = await project();
  const { root } = made;
  for (const folder of [".deno/bin", "vendor", "src/a"]) await ensureDir(`${root}/${folder}`);
  await Deno.copyFile(`${ROOT}/scripts/bundle`, `${root}/scripts/bundle`);
  const deno = (bundle: string) =>
    Deno.writeTextFile(
      `${root}/.deno/bin/deno`,
      script(
        `case $4 in scripts/bundle.ts) ${bundle} ;; esac
          printf '%s ' "$1" >>begun
          printf '%s\\n' "$@" | tail -1`,
      ),
      { mode: 0o755 },
    );
  for (const file of ["main.ts", "src/a/a.ts"]) {
    await Deno.writeTextFile(`${root}/${file}`, "");
    await Deno.utime(`${root}/${file}`, new Date(1e12), new Date(1e12));
  }
  for (const folder of ["src", "src/a", "scripts/setup", "deno.json"]) {
    await Deno.utime(`${root}/${folder}`, new Date(1e12), new Date(1e12));
  }
  await Deno.writeTextFile(`${root}/.deno/ready`, "");
  const bundle = `${root}/.deno/bundle`;
  const start = async () => (await made.run(`${root}/scripts/copilot`)).text.trimEnd();
  const counts = () => Deno.readTextFile(`${root}/count`).then((text) => text.length);
  const making = () => deno(`: >"$5/main.js"; printf x >>count; exit 0`);
  await making();
  assertEquals(await start(), `${bundle}/main.js`);
  assertEquals(names(bundle).sort(), ["main.js", "mark"]);
  // A start puts the compiled code into Deno's cache, and then the cache has a checkpoint.
  assertEquals(await Deno.readTextFile(`${root}/begun`), "run eval ");
  assertEquals([await start(), await counts()], [`${bundle}/main.js`, 1]);
  const later = new Date(Date.now() + 60_000);
  await Deno.utime(`${root}/src/a/a.ts`, later, later);
  assertEquals([await start(), await counts()], [`${bundle}/main.js`, 2]);
  assertEquals([await start(), await counts()], [`${bundle}/main.js`, 2]);
  // From an archive a source may come with an older time.
  await made.run("-c", [`touch -r "${root}/.deno/ready" "${bundle}/mark"`]);
  await Deno.utime(`${root}/src/a/a.ts`, new Date(1e12), new Date(1e12));
  assertEquals([await start(), await counts()], [`${bundle}/main.js`, 3]);
  // While another run makes it, the program runs from its sources.
  await Deno.writeTextFile(`${bundle}/mark`, "");
  await Deno.mkdir(`${bundle}.new`);
  assertEquals([await start(), await counts()], [`${root}/main.ts`, 3]);
  await Deno.utime(`${bundle}.new`, new Date(1e12), new Date(1e12));
  assertEquals([await start(), await counts()], [`${bundle}/main.js`, 4]);
  assertEquals(names(`${root}/.deno`).sort(), ["bin", "bundle", "ready"]);
  // A bundle of another folder is not used. If the bundler fails, each start tries again, and does not
  // wait for it.
  await Deno.writeTextFile(`${bundle}/mark`, "/elsewhere\n");
  const failed = `${root}/.deno/unbundled`;
  await deno("printf x >>count; exit 1");
  assertEquals([await start(), await counts()], [`${root}/main.ts`, 5]);
  assertEquals(names(`${root}/.deno`).includes("unbundled"), true);
  await making();
  assertEquals(await start(), `${root}/main.ts`);
  await waitUntil(() => !existsSync(failed));
  assertEquals([await start(), await counts()], [`${bundle}/main.js`, 6]);
  // The set-up makes one where there is none, and says why it cannot.
  await Deno.remove(bundle, { recursive: true });
  const said = "setup: preparing the program: some seconds\n";
  await deno("echo 'bundle: no network' >&2; echo more >&2; exit 1");
  assertEquals(
    (await made.run(`${root}/scripts/setup`)).text,
    [
      `${said}setup: bundle: no network`,
      "setup: the program starts from its sources, which takes longer, until a start can make the bundle\n",
    ].join("\n"),
  );
  assertEquals(await made.run(`${root}/scripts/setup`), { code: 0, text: "" });
  await Deno.remove(failed);
  await making();
  assertEquals(await made.run(`${root}/scripts/setup`, ["--no-bundle"]), { code: 0, text: "" });
  assertEquals(await made.run(`${root}/scripts/setup`), { code: 0, text: said });
  assertEquals([await start(), await counts()], [`${bundle}/main.js`, 7]);
});

test("copilot: what changed since the set-up is set up again", async () => {
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
});

/** What keeps Deno from starting, or from saying why it cannot, and the line for it. */
const UNFIT_SHELLS = [
  ['exec "$1" --version >&-', "cannot write to stdout: it is closed"],
  [
    'ulimit -n 20; exec "$1" --version',
    "this shell allows only 20 files, and 64 are needed: run ulimit -n 1024 first",
  ],
  [
    'ulimit -s 256; exec "$1" --version',
    "this shell allows only 256 KiB of stack, and 1024 are needed: run ulimit -s 8192 first",
  ],
  [
    'ulimit -v 9000000; exec "$1" --version',
    "this shell allows only 9000000 KiB of addresses, and 41943040 are needed: run ulimit -v unlimited first",
  ],
  [
    'cd "$2" && rmdir "$2"; exec "$1" --version 2>&1',
    "the current folder was removed: cd to one that is there",
  ],
] as const;

Deno.test("TTY-06 copilot: a shell in which Deno cannot start is said, with exit code 1", {
  ignore,
}, async () => {
  const copilot = `${ROOT}scripts/copilot`;
  for (const [script, said] of UNFIT_SHELLS) {
    const folder = await Deno.makeTempDir();
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", script, "sh", copilot, folder],
    }).output();
    await Deno.remove(folder).catch(() => {});
    const printed = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    // The shell itself may say that its folder is gone.
    assertEquals([code, printed.split("\n").at(-2)], [1, `copilot: ${said}`]);
  }
  // Where nothing can be said either, the exit code says it.
  const closed = ["-c", 'exec "$0" --version >&- 2>&-', copilot];
  assertEquals((await new Deno.Command("sh", { args: closed }).output()).code, 1);
});
