/**
 * The filter of system calls for sandboxed commands: BPF of seccomp(2). It closes gaps of mounts and namespaces:
 * sockets of other programs, system calls that reach beyond the sandbox or have often broken the kernel, terminal
 * input, and set-uid bits.
 *
 * Sources: linux/{seccomp,filter,audit}.h; the numbers are of Linux' `syscall_64.tbl` and `unistd.h`.
 *
 * @module
 */

type ArgumentTest =
  | { arg: number; oneOf: readonly number[]; mask?: number }
  | { arg: number; noneOf: readonly number[]; mask?: number }
  | { arg: number; bits: number };

/** A system call by its numbers on x86-64 and ARM64, if it exists there. It is refused if all conditions are true. */
type RefusedCall = readonly [
  errno: number,
  x64: number | undefined,
  arm64: number | undefined,
  ...when: ArgumentTest[],
];

const EPERM = 1;
/** Programs assume an older kernel, and work without the call. */
const ENOSYS = 38;

const SET_ID_BITS = 0o6000;
/** With `O_CREAT` or `O_TMPFILE` the call creates a file and uses the mode. */
const MAKES_FILE = 0o20000100;
const NEW_USER_NAMESPACE = 0x1000_0000;
const [INET, INET6, NETLINK] = [2, 10, 16];
const [STREAM, SEQPACKET] = [1, 5];
/** Further bits of a socket's type are flags. */
const SOCKET_TYPE = 0xf;
const PR_SET_CHILD_SUBREAPER = 36;
const [PRIO_PGRP, PRIO_USER] = [1, 2];
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c];

const REFUSED: readonly RefusedCall[] = [
  // Internet sockets only: those of the file system, or of a virtual machine's host, would reach programs outside
  // of the sandbox.
  [EPERM, 41, 198, { arg: 0, noneOf: [INET, INET6, NETLINK] }],
  // A pair of datagram sockets could be reconnected.
  [EPERM, 53, 199, { arg: 1, noneOf: [STREAM, SEQPACKET], mask: SOCKET_TYPE }],
  // io_uring_setup, _enter, _register: a second way to make any call, which no filter sees.
  ...[425, 426, 427].map((number): RefusedCall => [ENOSYS, number, number]),
  // userfaultfd, bpf, perf_event_open.
  ...[[EPERM, 323, 282], [EPERM, 321, 280], [EPERM, 298, 241]] as const,
  // add_key, request_key, keyctl: keyrings are the user's, in and out of the sandbox.
  ...[[EPERM, 248, 217], [EPERM, 249, 218], [EPERM, 250, 219]] as const,
  // unshare, clone, clone3 (its flags are in memory, which no filter can read).
  [EPERM, 272, 97, { arg: 0, bits: NEW_USER_NAMESPACE }],
  [EPERM, 56, 220, { arg: 0, bits: NEW_USER_NAMESPACE }],
  [ENOSYS, 435, 435],
  // prctl: without an heir that ignores the ends of processes, their numbers show that they start others.
  [EPERM, 157, 167, { arg: 0, oneOf: [PR_SET_CHILD_SUBREAPER] }],
  // ptrace, process_vm_writev: process 1 is in the session of the command, and ends with this program, which it could
  // be made to undo. `wrap.ts` closes its folder in /proc.
  [EPERM, 101, 117, { arg: 1, oneOf: [1] }],
  [EPERM, 311, 271, { arg: 0, oneOf: [1] }],
  // sched_setscheduler, sched_setattr, setpriority (a group's and a user's may contain it): process 1 ends only once it
  // gets the processor, and programs that wait for it less would run on.
  [EPERM, 144, 119, { arg: 0, oneOf: [1] }],
  [EPERM, 314, 274, { arg: 0, oneOf: [1] }],
  [EPERM, 141, 140, { arg: 0, oneOf: [PRIO_PGRP, PRIO_USER] }],
  [EPERM, 141, 140, { arg: 1, oneOf: [1] }],
  // ioctl: the shell outside reads characters that are put into a terminal.
  [EPERM, 16, 29, { arg: 1, oneOf: [TIOCSTI, TIOCLINUX] }],
  // chmod, fchmod, fchmodat, mknod, mknodat, creat; then fchmodat2 and openat2 (its mode is in memory).
  [EPERM, 90, undefined, { arg: 1, bits: SET_ID_BITS }],
  [EPERM, 91, 52, { arg: 1, bits: SET_ID_BITS }],
  [EPERM, 268, 53, { arg: 2, bits: SET_ID_BITS }],
  [EPERM, 133, undefined, { arg: 1, bits: SET_ID_BITS }],
  [EPERM, 259, 33, { arg: 2, bits: SET_ID_BITS }],
  [EPERM, 85, undefined, { arg: 1, bits: SET_ID_BITS }],
  [ENOSYS, 452, 452],
  [ENOSYS, 437, 437],
  // open, openat.
  [EPERM, 2, undefined, { arg: 1, bits: MAKES_FILE }, { arg: 2, bits: SET_ID_BITS }],
  [EPERM, 257, 56, { arg: 2, bits: MAKES_FILE }, { arg: 3, bits: SET_ID_BITS }],
];

const LOAD = 0x20;
const AND = 0x54;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_BITS = 0x45;
const RETURN = 0x06;
const PASS = 0x7fff_0000;
const FAIL_WITH = 0x0005_0000;

/** Offsets in `struct seccomp_data`; arguments have 64 bits, the low ones first. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const argumentAt = (index: number): number => 16 + 8 * index;

const ARCHITECTURES = { x86_64: 0xc000_003e, aarch64: 0xc000_00b7 } as const;
/** Numbers from here on are the x32 calls of x86-64: a second table of the same calls. */
const X32 = 0x4000_0000;

/** One instruction: code, how many to skip if a jump's condition is true or false, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

/** Returns an instruction that does not jump. */
const statement = (code: number, operand: number): Instruction => [code, 0, 0, operand];

/** Returns the filter for an architecture, as `bwrap --seccomp` reads it; undefined if the architecture is unknown. */
export function seccompFilter(arch: string): Uint8Array<ArrayBuffer> | undefined {
  if (arch !== "x86_64" && arch !== "aarch64") return undefined;
  const program: Instruction[] = [
    statement(LOAD, ARCHITECTURE_AT),
    // 32-bit calls have other numbers.
    [JUMP_IF_EQUAL, 1, 0, ARCHITECTURES[arch]],
    statement(RETURN, FAIL_WITH | ENOSYS),
    statement(LOAD, NUMBER_AT),
    [JUMP_IF_AT_LEAST, 0, 1, X32],
    statement(RETURN, FAIL_WITH | ENOSYS),
    ...REFUSED.flatMap(([errno, x64, arm64, ...when]) => {
      const number = arch === "x86_64" ? x64 : arm64;
      return number === undefined ? [] : refusedCall(number, errno, when);
    }),
    statement(RETURN, PASS),
  ];
  const bytes = new DataView(new ArrayBuffer(8 * program.length));
  for (const [i, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    bytes.setUint16(8 * i, code, true);
    bytes.setUint8(8 * i + 2, ifTrue);
    bytes.setUint8(8 * i + 3, ifFalse);
    bytes.setUint32(8 * i + 4, operand, true);
  }
  return new Uint8Array(bytes.buffer);
}

/** Returns the instructions that refuse one call, or leave its number loaded for the next. */
function refusedCall(number: number, errno: number, when: ArgumentTest[]): Instruction[] {
  let rest = [statement(RETURN, FAIL_WITH | errno)];
  // From the last condition to the first: each skips the rest if it is false.
  for (const test of when.toReversed()) {
    const past = rest.length;
    const values = "bits" in test ? [] : "oneOf" in test ? test.oneOf : test.noneOf;
    const jumps = values.map((value, i): Instruction => {
      const left = values.length - 1 - i;
      return "oneOf" in test
        ? [JUMP_IF_EQUAL, left, left === 0 ? past : 0, value]
        : [JUMP_IF_EQUAL, left + past, 0, value];
    });
    rest = [
      statement(LOAD, argumentAt(test.arg)),
      ..."bits" in test || test.mask === undefined ? [] : [statement(AND, test.mask)],
      ..."bits" in test ? [[JUMP_IF_BITS, 0, past, test.bits] as const] : jumps,
      ...rest,
    ];
  }
  // The argument has overwritten the number.
  if (when.length > 0) rest.push(statement(LOAD, NUMBER_AT));
  return [[JUMP_IF_EQUAL, 0, rest.length, number], ...rest];
}
