import { assertEquals } from "@std/assert";
import { PathTable } from "../../../src/safety/path_table.ts";
import { findSandbox } from "../../../src/safety/sandbox/probe.ts";
import { seccompFilter } from "../../../src/safety/sandbox/seccomp.ts";
import { makeView } from "../../../src/safety/make_view.ts";

/** What the kernel does with a call: runs the filter's instructions, as seccomp(2) says. */
function judge(filter: Uint8Array<ArrayBuffer>, words: readonly number[]): string {
  const code = new DataView(filter.buffer);
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const operand = code.getUint32(at + 4, true);
    const jump = (holds: boolean) => at += 8 * code.getUint8(at + (holds ? 2 : 3));
    switch (code.getUint16(at, true)) {
      case 0x20:
        loaded = words[operand / 4]!;
        break;
      case 0x54:
        loaded = (loaded & operand) >>> 0;
        break;
      case 0x15:
        jump(loaded === operand);
        break;
      case 0x35:
        jump(loaded >= operand);
        break;
      case 0x45:
        jump((loaded & operand) !== 0);
        break;
      case 0x06:
        return operand === 0x7fff0000 ? "runs" : `errno ${operand & 0xffff}`;
      default:
        return "no such instruction";
    }
  }
  return "no end";
}

const AUDIT = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
type Row = [
  what: string,
  x64: number | undefined,
  arm64: number | undefined,
  args: number[],
  verdict: string,
];
const ROWS: Row[] = [
  ["read", 0, 63, [3, 0, 10], "runs"],
  ["socket of the internet", 41, 198, [2, 1, 0], "runs"],
  ["socket of the internet, version 6", 41, 198, [10, 1, 0], "runs"],
  ["socket of the kernel's routes", 41, 198, [16, 3, 0], "runs"],
  ["socket of the file system", 41, 198, [1, 1, 0], "errno 1"],
  ["socket of the machine's host", 41, 198, [40, 1, 0], "errno 1"],
  ["socket of cryptography", 41, 198, [38, 5, 0], "errno 1"],
  ["pair of streams, close on exec", 53, 199, [1, 0x80001, 0], "runs"],
  ["pair of datagram sockets", 53, 199, [1, 2, 0], "errno 1"],
  ["io_uring_setup", 425, 425, [8], "errno 38"],
  ["io_uring_register", 427, 427, [8], "errno 38"],
  ["userfaultfd", 323, 282, [0], "errno 1"],
  ["bpf", 321, 280, [0], "errno 1"],
  ["perf_event_open", 298, 241, [0], "errno 1"],
  ["keyctl", 250, 219, [0], "errno 1"],
  ["request_key", 249, 218, [0], "errno 1"],
  ["fork", 56, 220, [0x1200011], "runs"],
  ["clone with a user namespace", 56, 220, [0x10000011], "errno 1"],
  ["unshare files", 272, 97, [0x400], "runs"],
  ["unshare users", 272, 97, [0x10000000 | 0x20000], "errno 1"],
  ["clone3", 435, 435, [0], "errno 38"],
  ["name of a process", 157, 167, [15, 0], "runs"],
  ["heir of processes", 157, 167, [36, 1], "errno 1"],
  ["ptrace of a child", 101, 117, [16, 11], "runs"],
  ["ptrace of process 1", 101, 117, [16, 1], "errno 1"],
  ["writing into process 1", 311, 271, [1], "errno 1"],
  ["idle scheduling of process 1", 144, 119, [1, 5], "errno 1"],
  ["idle scheduling of a process", 144, 119, [0, 5], "runs"],
  ["attributes of process 1", 314, 274, [1], "errno 1"],
  ["priority of a process", 141, 140, [0, 0, 19], "runs"],
  ["priority of process 1", 141, 140, [0, 1, 19], "errno 1"],
  ["priority of a group", 141, 140, [1, 0, 19], "errno 1"],
  ["size of a terminal", 16, 29, [0, 0x5413], "runs"],
  ["typing into a terminal", 16, 29, [0, 0x5412], "errno 1"],
  ["typing into a console", 16, 29, [0, 0x541c], "errno 1"],
  ["chmod 0755", 90, undefined, [0, 0o755], "runs"],
  ["chmod u+s", 90, undefined, [0, 0o4755], "errno 1"],
  ["fchmod g+s", 91, 52, [3, 0o2755], "errno 1"],
  ["fchmodat u+s", 268, 53, [0xffffff9c, 0, 0o4755], "errno 1"],
  ["fchmodat", 268, 53, [0xffffff9c, 0, 0o755], "runs"],
  ["fchmodat2", 452, 452, [0], "errno 38"],
  ["mknod u+s", 133, undefined, [0, 0o104755], "errno 1"],
  ["mknodat u+s", 259, 33, [0, 0, 0o104755], "errno 1"],
  ["creat u+s", 85, undefined, [0, 0o4755], "errno 1"],
  [
    "open for reading, with whatever stands in the third register",
    2,
    undefined,
    [0, 0, 0o7777],
    "runs",
  ],
  ["open that makes a file u+s", 2, undefined, [0, 0o101, 0o4755], "errno 1"],
  ["openat that makes a file", 257, 56, [0, 0, 0o101, 0o644], "runs"],
  ["openat that makes a file u+s", 257, 56, [0, 0, 0o101, 0o4755], "errno 1"],
  ["openat of a nameless file g+s", 257, 56, [0, 0, 0o20200001, 0o2755], "errno 1"],
  ["openat2", 437, 437, [0], "errno 38"],
];

Deno.test("SBX-01 the filter of system calls refuses what reaches past the confinement, and nothing else", () => {
  for (const [column, arch] of (["x86_64", "aarch64"] as const).entries()) {
    const filter = seccompFilter(arch)!;
    const call = (number: number, args: number[], of: number = AUDIT[arch]) =>
      judge(filter, [number, of, 0, 0, ...args.flatMap((arg) => [arg >>> 0, 0])]);
    for (const [what, x64, arm64, args, verdict] of ROWS) {
      const number = column === 0 ? x64 : arm64;
      if (number !== undefined) assertEquals(call(number, args), verdict, `${what} on ${arch}`);
    }
    assertEquals(call(0, [], 0x40000003), "errno 38", "a call of another architecture");
    assertEquals(call(0x40000000 + 41, [1]), "errno 38", "a call of the x32 table");
  }
  assertEquals(seccompFilter("riscv64"), undefined);
});

const sandbox = await findSandbox();
const hasPerl =
  (await new Deno.Command("sh", { args: ["-c", "perl -MSocket -e 1"] }).output()).success;
const ignore = typeof sandbox === "string" || sandbox.by !== "bubblewrap" || !hasPerl;

Deno.test({
  name: `SBX-01 the kernel heeds the filter${
    ignore ? " (skipped: it takes bubblewrap and perl)" : ""
  }`,
  ignore,
  async fn() {
    if (typeof sandbox === "string") return;
    const [folder, own] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
    const script = `use Socket; $| = 1;
      sub told { print "$_[0] ", $_[1] ? "works" : "fails", "\\n" }
      told("internet", socket(my $a, AF_INET, SOCK_STREAM, 0));
      told("file", socket(my $b, AF_UNIX, SOCK_STREAM, 0));
      told("pair", socketpair(my $c, my $d, AF_UNIX, SOCK_STREAM, 0));
      told("datagrams", socketpair(my $e, my $f, AF_UNIX, SOCK_DGRAM, 0));
      open(my $g, ">", "made"); close $g;
      told("mode", chmod(0700, "made")); told("setuid", chmod(04700, "made"));
      my $pid = fork(); exit if defined $pid and $pid == 0;
      told("fork", defined $pid);
      told("first", open(my $h, "<", "/proc/1/stat"))`;
    const run = async (before: readonly string[]) => {
      const [program, ...args] = [...before, "perl", "-e", script];
      const { stdout } = await new Deno.Command(program!, { args, cwd: folder }).output();
      return new TextDecoder().decode(stdout).match(/^\w+(?= works)/gm);
    };
    const view = makeView({
      folder: Deno.realPathSync(folder),
      isWritable: true,
      network: false,
      paths: new PathTable({}),
    });
    const usual = ["internet", "pair", "mode", "fork"];
    assertEquals(await run(sandbox.command(view, own)), usual);
    assertEquals(
      (await run([]))?.sort(),
      [...usual, "file", "datagrams", "setuid", "first"].sort(),
    );
    await Promise.all([folder, own].map((path) => Deno.remove(path, { recursive: true })));
  },
});
