import { assertEquals } from "@std/assert";
import { PathTable } from "../../src/safety/path_table.ts";
import { limitOf, type ProgramEnd } from "../../src/safety/sandbox_limit.ts";
import { parseRule } from "../../src/safety/rules.ts";
import type { View } from "../../src/safety/view.ts";
import type { SandboxLimit } from "../../src/types/confine.ts";

type Bounds = Parameters<typeof limitOf>[1];

/** A working folder, another one that is hidden, one that is only read, and a home folder with a key. */
function folders() {
  const root = Deno.realPathSync(Deno.makeTempDirSync());
  for (const name of ["work", "other", "read", "home/.ssh", "own"]) {
    Deno.mkdirSync(`${root}/${name}`, { recursive: true });
  }
  for (const name of ["other/file", "read/file", "home/.ssh/id_rsa", "own/file"]) {
    Deno.writeTextFileSync(`${root}/${name}`, "");
  }
  const view: View = {
    folder: `${root}/work`,
    places: new Map([
      ["/", "hidden"],
      [`${root}/work`, "write"],
      [`${root}/read`, "read"],
      [`${root}/own`, "own"],
    ]),
    network: false,
    isComplete: true,
  };
  const limit = (end: Partial<ProgramEnd>, more: Partial<Bounds> = {}) =>
    limitOf({ command: "x", code: 1, ...end }, {
      ...{ view, network: false, isShared: true, approve: "auto", sandbox: "workspace-write" },
      rules: [],
      paths: new PathTable({ home: `${root}/home` }),
      ...more,
    });
  return { root, view, limit, [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }) };
}

/** Shapes of messages without a network. */
const NO_NETWORK = [
  "curl: (6) Could not resolve host: a.example",
  "wget: unable to resolve host address 'a.example'",
  "wget: bad address 'a.example'",
  "fatal: unable to access 'https://a.example/': Could not resolve host: a.example",
  "ping: connect: Network is unreachable",
  "Temporary failure resolving 'a.example'",
  // npm/npm#16030, yarnpkg/yarn#1645, nodejs/node#42804
  "npm error code EAI_AGAIN",
  "Error: connect ENETUNREACH 192.0.2.1:443",
  "TypeError: fetch failed\n  [cause]: Error: getaddrinfo ENOTFOUND a.example",
  "request failed: fetch failed",
  // oven-sh/bun#16024
  "error: ConnectionRefused downloading package manifest a",
  // psf/requests#3677, astral-sh/uv#12016
  "NewConnectionError: [Errno -3] Temporary failure in name resolution",
  "NameResolutionError: Failed to resolve 'a.example'",
  "  dns error: failed to lookup address information: Try again",
  "Network connectivity is disabled, but the cache has no a",
  // rust-lang/cargo#13291, rust-lang/cargo#10183
  "warning: spurious network error: [6] Couldn't resolve host name",
  "Caused by:\n  [7] Couldn't connect to server",
  "curl: (7) Failed to connect to 192.0.2.1 port 80 after 0 ms: Couldn't connect to server",
  // NixOS/nixpkgs#19931
  "dial tcp: lookup a.example on [::1]:53: read udp [::1]:1->[::1]:53: read: connection refused",
  "dial tcp: lookup a.example: no such host",
  'Exception in thread "main" java.net.UnknownHostException: a.example',
  "Unknown host a.example: Name or service not known",
  // rubygems/bundler#4588
  "Could not reach host a.example. Check your network connection and try again.",
  "Failed to open TCP connection to a.example:443 (getaddrinfo: nodename nor servname provided)",
  "error NU1301: Unable to load the service index for source https://a.example",
  "curl error 6 while downloading https://a.example: getaddrinfo() thread failed to start",
  // elixir-lang/elixir#5731, ziglang/zig#22592
  "httpc request failed with: {:inet, [:inet], :nxdomain}",
  "error: unable to connect to server: TemporaryNameServerFailure",
  "SocketException: Failed host lookup: 'a.example'",
];

Deno.test("a command that found no network is told by the messages of common programs", () => {
  using at = folders();
  for (const stderr of NO_NETWORK) {
    assertEquals([stderr, at.limit({ stderr })], [stderr, { kind: "network" }]);
    assertEquals([stderr, at.limit({ stderr }, { network: true })?.kind], [stderr, undefined]);
  }
});

Deno.test("a failure that the sandbox did not cause has no limit", () => {
  using at = folders();
  const rows: Partial<ProgramEnd>[] = [
    { stderr: "cat: x: No such file or directory" },
    { stderr: "cat: /no/such/place: No such file or directory" },
    { stderr: `cat: ${at.root}/home/missing: No such file or directory` },
    { stderr: `cat: ${at.root}/read/missing: No such file or directory` },
    { stderr: `sh: ${at.root}/read/file: Permission denied` },
    { stderr: `cat: ${at.root}/work/missing: ENOENT` },
    { stderr: 'error: Could not resolve "./missing"' },
    { stderr: "npm error ERESOLVE unable to resolve dependency tree" },
    { stderr: "1 test failed" },
    { stderr: "kill: (1) - Operation not permitted" },
    { command: "grep x y | head -1", code: 0 },
    { command: "grep x y", code: 7 },
    { stdout: "Could not resolve host", code: 0 },
  ];
  for (const row of rows) assertEquals([row, at.limit(row)], [row, undefined]);
});

Deno.test("curl and wget that print nothing are told by their exit codes", () => {
  using at = folders();
  const rows: [command: string, code: number, kind?: SandboxLimit["kind"]][] = [
    ["curl -s https://a.example", 6, "network"],
    ["curl -sf http://192.0.2.1", 7, "network"],
    ["curl -s http://localhost:8000", 7, "loopback"],
    ["wget -q https://a.example", 4, "network"],
    ["curl -s https://a.example | head -1", 0, "network"],
    ["curl -s http://127.0.0.1:3000 | head -1", 0, "loopback"],
    ["curl -s https://a.example", 22],
    ["make", 6],
  ];
  for (const [command, code, kind] of rows) {
    assertEquals([command, at.limit({ command, code })?.kind], [command, kind]);
    assertEquals(at.limit({ command, code }, { network: true }), undefined);
  }
});

Deno.test("a server that does not listen is one outside of the sandbox, or of another command, unless there is a network", () => {
  using at = folders();
  const rows = [
    "curl: (7) Failed to connect to 127.0.0.1 port 8000 after 0 ms: Couldn't connect to server",
    "Connecting to 127.0.0.1:8000... failed: Connection refused.",
    "TypeError: fetch failed\n  [cause]: Error: connect ECONNREFUSED 127.0.0.1:8000",
    "dial tcp [::1]:8080: connect: connection refused",
  ];
  for (const stderr of rows) {
    assertEquals([stderr, at.limit({ stderr })?.kind], [stderr, "loopback"]);
    assertEquals(at.limit({ stderr }, { isShared: false })?.kind, "own_loopback");
    assertEquals(at.limit({ stderr }, { network: true }), undefined);
  }
});

Deno.test("ssh lacks its folder beside the network, unless the user listed that", () => {
  using at = folders();
  const path = `${at.root}/home/.ssh`;
  const offline = "ssh: Could not resolve hostname a.example: Temporary failure in name resolution";
  const refused = "ssh: connect to host 127.0.0.1 port 22: Connection refused";
  const keyless = "git@a.example: Permission denied (publickey).\nfatal: Could not read";
  const hostless = "Host key verification failed.\nfatal: Could not read";
  for (const stderr of [offline, refused]) {
    assertEquals(at.limit({ stderr }), { kind: "ssh", path });
    assertEquals(at.limit({ stderr }, { network: true }), undefined);
  }
  for (const stderr of [keyless, hostless]) {
    assertEquals(at.limit({ stderr }, { network: true }), { kind: "ssh", path });
  }
  const listed: View = { ...at.view, places: new Map([...at.view.places, [path, "read"]]) };
  assertEquals(at.limit({ stderr: offline }, { view: listed }), { kind: "network" });
  assertEquals(at.limit({ stderr: keyless }, { view: listed, network: true }), undefined);
});

Deno.test("a hidden path is named that a link, a script or a plain name leads to", () => {
  using at = folders();
  const { root, view } = at;
  Deno.mkdirSync(`${root}/work/venv`);
  Deno.symlinkSync(`${root}/other/file`, `${root}/work/venv/python`);
  Deno.symlinkSync(`${root}/read/file`, `${root}/other/link`);
  Deno.symlinkSync(`${root}/other/link`, `${root}/work/through`);
  Deno.writeTextFileSync(`${root}/work/script`, `#!${root}/other/file -u\n`);
  Deno.writeTextFileSync(`${root}/work/.env`, "");
  const env: View = { ...view, places: new Map([...view.places, [`${root}/work/.env`, "hidden"]]) };
  const hidden = (name: string) => ({ kind: "hidden", path: `${root}/other/${name}` }) as const;
  const rows: [said: string, limit: SandboxLimit | undefined][] = [
    ["/bin/bash: line 1: venv/python: No such file or directory", hidden("file")],
    ["/bin/bash: line 1: ./through: No such file or directory", hidden("link")],
    [`sh: ${root}/other/link: No such file or directory`, hidden("link")],
    ["/bin/bash: line 1: ./script: cannot execute: required file not found", hidden("file")],
    ["/bin/bash: line 1: ./none: cannot execute: required file not found", undefined],
    ["PermissionError: [Errno 13] Permission denied: '.env'", {
      kind: "secret",
      path: `${root}/work/.env`,
    }],
    ["Error: EACCES: permission denied, open './.env'", {
      kind: "secret",
      path: `${root}/work/.env`,
    }],
  ];
  for (const [stderr, limit] of rows) {
    assertEquals([stderr, at.limit({ stderr }, { view: env })], [stderr, limit]);
  }
  // No setting opens what a rule closes.
  const rules = [parseRule("deny", "read_file(.env)")];
  assertEquals(at.limit({ stderr: rows.at(-1)![0] }, { view: env, rules }), {
    kind: "ruled",
    path: `${root}/work/.env`,
  });
});

Deno.test("a path that only the sandbox closes is named, with what is closed", () => {
  using at = folders();
  const { root } = at;
  const rows: [said: string, limit: SandboxLimit | undefined, more?: Partial<Bounds>][] = [
    [`cat: ${root}/other/file: No such file or directory`, {
      kind: "hidden",
      path: `${root}/other/file`,
    }],
    ["cat: ../other/file: No such file or directory", {
      kind: "hidden",
      path: `${root}/other/file`,
    }],
    [`sh: ${root}/other/new: No such file or directory`, { kind: "hidden", path: `${root}/other` }],
    [`cat: ${root}/home/.ssh/id_rsa: No such file or directory`, {
      kind: "secret",
      path: `${root}/home/.ssh/id_rsa`,
    }],
    [`cat: ${root}/own/file: No such file or directory`, { kind: "tmp", path: `${root}/own/file` }],
    [`touch: cannot touch '${root}/read/new': Read-only file system`, {
      kind: "outside",
      path: `${root}/read`,
    }],
    [`OSError: [Errno 30] Read-only file system: '${root}/read/file'`, {
      kind: "outside",
      path: `${root}/read`,
    }],
    ["error: could not lock config file .git/config: Read-only file system", { kind: "protected" }],
    ["error: could not write config file .git/config: Device or resource busy", {
      kind: "protected",
    }],
    ["mv: cannot move 'a' to 'b': Device or resource busy", { kind: "protected" }],
    ["/bin/bash: line 1: a: Read-only file system", { kind: "read_only" }, {
      sandbox: "read-only",
    }],
    [`${root}/read/file: Read-only file system`, { kind: "outside", path: `${root}/read` }],
    ["touch: cannot touch 'a': Read-only file system", { kind: "plan" }, {
      ...{ approve: "plan", sandbox: "read-only" },
    }],
    ["listen EPERM: operation not permitted /tmp/x", { kind: "socket" }],
    ["socket.socket(socket.AF_UNIX)\n  x\n[Errno 1] Operation not permitted", { kind: "socket" }],
    ["unshare: unshare failed: Operation not permitted", { kind: "kernel" }],
  ];
  for (const [stderr, limit, more] of rows) {
    assertEquals([stderr, at.limit({ stderr }, more)], [stderr, limit]);
  }
  // The last command of a line ended well.
  const docker = `permission denied: dial unix ${root}/other/file: socket: operation not permitted`;
  assertEquals(at.limit({ code: 0, stderr: docker }), { kind: "socket" });
});
