import { EXIT } from "../frontends/exit_codes.ts";

/** Calls `handler` with the exit code for each signal until the returned function is called. */
export function onSignals(handler: (exitCode: number) => void): () => void {
  const codes: [Deno.Signal, number][] = Deno.build.os === "windows"
    ? [["SIGINT", EXIT.interrupted], ["SIGBREAK", EXIT.interrupted]]
    : [["SIGINT", EXIT.interrupted], ["SIGTERM", EXIT.terminated], ["SIGHUP", EXIT.hangup]];
  const listeners = codes.map(([signal, code]) => {
    const listener = () => handler(code);
    Deno.addSignalListener(signal, listener);
    return () => Deno.removeSignalListener(signal, listener);
  });
  return () => listeners.forEach((remove) => remove());
}
