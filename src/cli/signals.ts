import { EXIT } from "../frontends/exit_codes.ts";

/**
 * Calls `handler` with the exit code for each signal until the returned function is called. Meanwhile
 * a file that would outgrow its limit (`ulimit -f`) is an error of the write, as on a full disk.
 */
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
