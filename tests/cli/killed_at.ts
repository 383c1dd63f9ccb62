/**
 * Changes recorded sessions, and is killed at a step: `killed_at.ts STEP fork ID`, or words of `copilot sessions`. A
 * write is killed when half of it is done. Exits with 0 if there are fewer steps.
 */

import { runSessions } from "../../src/cli/sessions_verb.ts";
import type { Run } from "../../src/cli/process.ts";
import { forkSession, sessionWithId } from "../../src/session/record.ts";

type Call = (...args: unknown[]) => unknown;
const [at, ...words] = Deno.args;
const system = Deno as unknown as Record<string, Call>;
let step = 0;
for (const name of "writeText write rename link remove mkdir".split(" ")) {
  const call = /^write/.test(name) ? `${name}FileSync` : `${name}Sync`;
  const real = system[call]!;
  system[call] = (...args) => {
    if (++step === Number(at)) {
      const [path, content, options] = args as [string, string | Uint8Array, unknown];
      if (/^write/.test(name)) real(path, content.slice(0, content.length >> 1), options);
      Deno.kill(Deno.pid, "SIGKILL");
    }
    return real(...args);
  };
}
const { writeSync } = Deno.FsFile.prototype;
Deno.FsFile.prototype.writeSync = function (bytes) {
  if (++step !== Number(at)) return writeSync.call(this, bytes);
  writeSync.call(this, bytes.subarray(0, bytes.length >> 1));
  Deno.kill(Deno.pid, "SIGKILL");
  return 0;
};
const run = { stdout: { write() {} }, stderr: { line() {} } } as unknown as Run;
if (words[0] === "fork") forkSession(sessionWithId(words[1]!));
else Deno.exit(await runSessions(words, run));
