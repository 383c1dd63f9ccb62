/** Programs in a real pseudo-terminal: tmux, whose screen the tests read. */

import { fromFileUrl } from "@std/path/from-file-url";
import { ENTRY } from "./program.ts";
import { TmuxClient } from "./tmux_client.ts";
import { MAX_WAIT_MS, waitUntil } from "./wait_until.ts";

/** A terminal with a shell in it. */
export interface Terminal extends AsyncDisposable {
  /** A folder of its own, which the shell is in. */
  readonly folder: string;
  /** Types `bytes`, as if they came from the keyboard. */
  type(bytes: string): Promise<void>;
  /**
   * The rows of the screen, without trailing blanks and empty rows at the end. Without styles, the placeholder of an
   * empty line is left out, and messages begin with `> `.
   */
  screen(options?: {
    /** With SGR sequences for the styles. */
    styles?: boolean;
    /** With the rows above the screen. */
    isWhole?: boolean;
  }): Promise<string[]>;
  /** Waits until the cursor is there, from 0: a screen may be captured while it moves. */
  untilCursor(column: number, row: number): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Sends a signal, such as `TERM`, to the session that runs in `folder`. */
  kill(signal: string): Promise<void>;
  /**
   * Returns all output of programs, as bytes in Latin-1, once `is` is true for it: it may come later than the
   * screen.
   */
  output(is?: (output: string) => boolean): Promise<string>;
  /** Waits until the screen is as wanted. After a minute, it throws with the screen. */
  until(what: string | ((rows: string[]) => boolean)): Promise<string[]>;
}

/** The reason why there is no tmux; empty if there is one. */
export const noTmux: string = await (async () => {
  try {
    const { success } = await new Deno.Command("tmux", { args: ["-V"], stdout: "null" }).output();
    return success ? "" : "tmux does not run";
  } catch {
    return "no tmux installed";
  }
})();

/** Starts `shell` in a terminal of 80 by 24, or of another size. */
export async function terminal(
  { columns = 80, rows = 24, shell = "sh" }: { columns?: number; rows?: number; shell?: string } =
    {},
): Promise<Terminal> {
  const base = await Deno.makeTempDir();
  const folder = `${base}/w`;
  await Deno.mkdir(folder);
  const size = ["-x", `${columns}`, "-y", `${rows}`];
  const client = new TmuxClient(
    ["-S", `${folder}/tmux`, "-f", "/dev/null", "new-session", "-d", ...size, shell]
      .concat(";", "set-option", "-g", "escape-time", "0", ";", "attach-session"),
    {
      cwd: folder,
      env: {
        TERM: "xterm-256color",
        LC_ALL: "C.UTF-8",
        PS1: "$ ",
        // The command line must fit the screen, also in a long path.
        DENO: Deno.execPath(),
        PROJECT: fromFileUrl(new URL("../..", import.meta.url)),
        ENTRY,
        ENV: "",
        HISTFILE: "",
        XDG_STATE_HOME: `${base}/state`,
        XDG_CONFIG_HOME: `${base}/config`,
      },
    },
  );
  const screen = async ({ styles = false, isWhole = false } = {}) =>
    (await client.run(`capture-pane -p${styles ? " -e" : ""}${isWhole ? " -S -" : ""}`)).trimEnd()
      .split("\n")
      .map((row) =>
        (styles ? row : row.replace(/^> Ask anything [·-].*/, ">").replace(/^▎ /, "> ")).trimEnd()
      );
  async function once<T>(
    look: () => T | Promise<T>,
    is: (found: T) => boolean,
    what: unknown,
  ): Promise<T> {
    for (const start = performance.now();;) {
      const change = client.changed();
      const found = await look();
      if (is(found)) return found;
      if (performance.now() - start > MAX_WAIT_MS) {
        throw new Error(`Never came ${what}:\n${(await screen()).join("\n")}\n${found}`);
      }
      // Looks once for changes that come together. Some awaited changes do not change the terminal.
      await new Promise((resolve) => setTimeout(resolve, 10));
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([change, new Promise((resolve) => timer = setTimeout(resolve, 200))]);
      clearTimeout(timer);
    }
  }
  return {
    folder,
    screen,
    async type(bytes) {
      const hex = Array.from(new TextEncoder().encode(bytes), (byte) => byte.toString(16));
      for (let at = 0; at < hex.length; at += 500) {
        await client.run(`send-keys -H ${hex.slice(at, at + 500).join(" ")}`);
      }
    },
    async untilCursor(column, row) {
      const look = () => client.run('display-message -p "#{cursor_x} #{cursor_y}"');
      await once(look, (at) => at.trim() === `${column} ${row}`, `the cursor to ${column}, ${row}`);
    },
    async resize(columns, rows) {
      await client.run(`resize-window -x ${columns} -y ${rows}`);
      // Real windows do not change faster, and a frame that is reflowed while it is drawn looks like text.
      await new Promise((resolve) => setTimeout(resolve, 15));
    },
    async kill(signal) {
      const script = `for p in /proc/[0-9]*; do
        [ "$(readlink $p/cwd)" = "${await Deno.realPath(folder)}" ] &&
        tr '\\0' ' ' < $p/cmdline | grep -q 'main\\.[jt]s --local' && kill -${signal} \${p#/proc/}
      done; true`;
      await new Deno.Command("sh", { args: ["-c", script] }).output();
    },
    output: (is = () => true) => once(() => client.output, is, is),
    until: (what) =>
      once(
        screen,
        typeof what === "string" ? (rows) => rows.some((row) => row.includes(what)) : what,
        what,
      ),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      // A program without its terminal may still write its record.
      await waitUntil(() => Deno.remove(base, { recursive: true }).then(() => true, () => false));
    },
  };
}

/** True for rows with a question about a call that accepts keys, in a terminal with or without UTF-8. */
export const asksAboutCall = (rows: string[]): boolean =>
  rows.some((row) => /^[▌|] [❯>] y {2}Yes$/.test(row)) &&
  !rows.some((row) => row.includes("Stop typing to answer:"));
