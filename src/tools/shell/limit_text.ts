/** The wording of the sandbox's limits: what a command lacked, and which setting grants it. @module */

import { oneLine } from "../../text/one_line.ts";
import type { SandboxLimit } from "../../types/confine.ts";

/** Names the missing right for each limit, with `PATH` for the path, and the setting that grants it, if any. */
const LIMIT_WORDS: Readonly<
  Record<SandboxLimit["kind"], readonly [what: string, setting?: string]>
> = {
  network: ["no network in the sandbox", "--network"],
  loopback: ["127.0.0.1 in the sandbox has only servers that run in it", "--network"],
  own_loopback: ["127.0.0.1 in the sandbox has only the command's own servers", "--network"],
  ssh: ["ssh needs the network and PATH, which is hidden in the sandbox", "--sandbox off"],
  hidden: ["PATH is hidden in the sandbox", '"sandboxRead" in permissions.json'],
  ruled: ["PATH is hidden in the sandbox, because a rule denies it or asks about it"],
  secret: ["PATH may contain secrets, so it is hidden in the sandbox", "--sandbox off"],
  tmp: ["commands do not see PATH, because they have their own /tmp and caches"],
  outside: ["PATH is read-only in the sandbox", '"sandboxWrite" in permissions.json'],
  protected: ["the file, or one in the folder, is protected in the sandbox", "--sandbox off"],
  read_only: ["the folder is read-only in the sandbox", "--sandbox workspace-write"],
  plan: ["the folder is read-only in plan mode"],
  socket: ["no Unix sockets in the sandbox", "--sandbox off"],
  kernel: ["the sandbox does not permit this system call", "--sandbox off"],
};

/** Advice for the model if that setting is not in force. */
const INSTEAD: Readonly<Partial<Record<SandboxLimit["kind"], string>>> = {
  loopback: "Start the server in the background, or in the same command.",
  own_loopback: "Start the server and use it in one command, or run both with the network.",
  tmp: "Put the file into the working directory.",
  socket:
    'Without: multiprocessing with fork, spawn and SyncManager(("127.0.0.1", 0)), tsx as node --import tsx, servers on 127.0.0.1.',
};

const whatOf = ({ kind, path = "" }: SandboxLimit): string =>
  oneLine(LIMIT_WORDS[kind][0].replace("PATH", () => path));

/** Returns a limit for the user, such as `no network in the sandbox: say yes if the model asks, or use --network`. */
export function sandboxLimitText(limit: SandboxLimit): string {
  const [, setting] = LIMIT_WORDS[limit.kind];
  const way = limit.mayAsk ? "say yes if the model asks, or use " : "";
  return whatOf(limit) + (setting ? `: ${way}${setting}` : "");
}

/** Returns a limit for the model, with the ways to lift it. */
export function limitAdvice(limit: SandboxLimit): string {
  const [, setting] = LIMIT_WORDS[limit.kind];
  const leave = setting === "--network" ? "network" : "sandbox";
  const ways = limit.mayAsk
    ? `Call again with leave "${leave}" and a reason: the user decides. ${setting} grants it for good.`
    : `The user can grant it with ${setting}.`;
  return [`Cause: ${whatOf(limit)}.`, INSTEAD[limit.kind] ?? [], setting ? ways : []].flat()
    .join(" ");
}
