/**
 * GNU readline, asked what it makes of keys.
 *
 * @module
 */

/**
 * Types each line of keys at GNU readline in a pseudo-terminal, with the history given, and tells
 * what came of it. Lines end with Enter; killed text is forgotten by nobody in between.
 */
const PROGRAM = `
import json, os, pty, sys
lines, history, settings = json.load(sys.stdin)
child, fd = pty.fork()
if child == 0:
    import readline
    for setting in ['set bell-style none', 'set enable-bracketed-paste off'] + settings:
        readline.parse_and_bind(setting)
    readline.set_auto_history(False)
    os.write(1, b"<" + json.dumps("GNU" in readline.__doc__).encode() + b">")
    for line in lines:
        readline.clear_history()
        for entry in history: readline.add_history(entry)
        text = input("ready\\n")
        os.write(1, b"<" + json.dumps(text).encode() + b">")
    os._exit(0)
seen = b""
def until(marker):
    global seen
    while marker not in seen:
        got = os.read(fd, 65536)
        if not got: sys.exit("readline ended")
        seen += got
    before, seen = seen.split(marker, 1)
    return before
def result():
    until(b"<")
    return json.loads(until(b">"))
answers = [result()]
for line in lines:
    until(b"ready")
    os.write(fd, line.encode())
    answers.append(result())
json.dump(answers, sys.stdout)
`;

/** What readline makes of the lines, with `settings` as in an inputrc; or why it can not be asked. */
export async function readline(
  lines: string[],
  history: string[],
  settings: string[],
): Promise<string[] | string> {
  try {
    const child = new Deno.Command("python3", {
      args: ["-c", PROGRAM],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      env: { INPUTRC: "/dev/null", TERM: "xterm", LC_ALL: "C.UTF-8", COLUMNS: "1000" },
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify([lines, history, settings])));
    await writer.close();
    const { stdout, stderr } = await child.output();
    const text = new TextDecoder().decode(stdout);
    if (text === "") {
      return `python3 has no readline: ${new TextDecoder().decode(stderr).slice(-200)}`;
    }
    const [gnu, ...answers] = JSON.parse(text);
    return gnu ? answers : "python3 uses another library than GNU readline";
  } catch (error) {
    return `no python3: ${(error as Error).message}`;
  }
}
