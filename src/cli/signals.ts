import { EXIT } from "../exit_codes.ts";

/** Calls `handler` with the exit code of each signal, until the returned function is called. SIGXFSZ only fails a write. */
export function onSignals(handler: (exitCode: number) => void): () => void {
  const codes: [Deno.Signal, number][] = Deno.build.os === "windows"
    ? [["SIGINT", EXIT.interrupted], ["SIGBREAK", EXIT.interrupted]]
    : [["SIGINT", EXIT.interrupted], ["SIGTERM", EXIT.terminated], ["SIGHUP", EXIT.hangup]];
  const listen = (signal: Deno.Signal, listener: () => void) => {
    Deno.addSignalListener(signal, listener);
    return () => Deno.removeSignalListener(signal, listener);
  };
  const listeners = codes.map(([signal, code]) => listen(signal, () => handler(code)));
  if (Deno.build.os !== "windows") listeners.push(listen("SIGXFSZ", () => {}));
  return () => listeners.forEach((remove) => remove());
}
