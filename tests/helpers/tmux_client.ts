/** A client of a tmux server in control mode: one process runs all commands, and reports all output. */

import { assert } from "@std/assert";

/** Bytes in Latin-1, one character each. `TextDecoder` uses that name for another encoding. */
const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);
const utf8 = (bytes: string) =>
  new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));

export class TmuxClient implements AsyncDisposable {
  /** All output of programs in the terminal so far, as bytes in Latin-1. */
  output = "";
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  /** The handlers of the answers to the commands, in their order. */
  readonly #sent: ((answer: { isError: boolean; text: string }) => void)[] = [];
  #news = Promise.withResolvers<void>();
  /** Before that, there is no session for a command. */
  readonly #attached = Promise.withResolvers<void>();

  /** Starts tmux with `args`, which make a session and attach to it. */
  constructor(args: readonly string[], { cwd, env }: { cwd: string; env: Record<string, string> }) {
    this.#child = new Deno.Command("tmux", {
      ...{ args: ["-u", "-C", ...args], cwd, env, stdin: "piped", stdout: "piped", stderr: "null" },
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  /** Runs a command line, and returns its output. */
  async run(command: string): Promise<string> {
    await this.#attached.promise;
    const answer = new Promise<{ isError: boolean; text: string }>((resolve) =>
      this.#sent.push(resolve)
    );
    await this.#writer.write(new TextEncoder().encode(`${command}\n`));
    const { isError, text } = await answer;
    assert(!isError, `tmux ${command}: ${text}`);
    return text;
  }

  /** Resolves once the terminal has changed after this call. */
  changed(): Promise<void> {
    return this.#news.promise;
  }

  /** Ends the server with all that runs in it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.write(new TextEncoder().encode("kill-server\n")).catch(() => {});
    await this.#reading;
    await this.#writer.close().catch(() => {});
    await this.#child.status;
  }

  async #read(): Promise<void> {
    let rest = "";
    /** The lines of an answer, from `%begin` to `%end`. */
    let answer: string[] | undefined;
    for await (const chunk of this.#child.stdout) {
      const lines = (rest + latin1(chunk)).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        // The last number is 1 in what answers a command that was sent.
        const [, mark] = /^%(begin|end|error) \d+ \d+ 1$/.exec(line) ?? [];
        if (mark === "begin") answer = [];
        else if (mark !== undefined) {
          this.#sent.shift()?.({ isError: mark === "error", text: utf8(answer!.join("\n")) });
          answer = undefined;
        } else if (answer) answer.push(line);
        else if (line.startsWith("%")) this.#onNews(line);
      }
    }
    this.#attached.resolve();
    this.#onNews("");
    for (const resolve of this.#sent) resolve({ isError: true, text: "the server has ended" });
  }

  #onNews(line: string): void {
    if (line.startsWith("%session-changed ")) this.#attached.resolve();
    const [, written] = /^%output %\d+ (.*)$/.exec(line) ?? [];
    this.output += written?.replace(
      /\\([0-7]{3})/g,
      (_, code) => String.fromCharCode(parseInt(code, 8)),
    ) ?? "";
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
