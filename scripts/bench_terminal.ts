// The session in a pseudo-terminal (`script` of util-linux) against GNU readline in bash: time to the
// prompt, and from a key to its echo. Without a reference: time from a key to a list, memory, idle CPU.
// `scripts/bench terminal`.
import {
  compared,
  inPairs,
  launchFlags,
  median,
  memoryOf,
  root,
  startServer,
  timeOf,
} from "./bench_tools.ts";

const folder = await Deno.makeTempDir();
/** The state, which must not be in the folder that is worked in. */
const state = await Deno.makeTempDir();
const decoder = new TextDecoder("latin1");

interface Session extends AsyncDisposable {
  /** Waits for `text`; returns the milliseconds since the session's start. */
  until(text: string): Promise<number>;
  type(text: string): Promise<void>;
  /** Discards the output so far. */
  forget(): void;
  pid: number;
}

/** Starts `command` in a terminal of 80 by 24. */
function start(command: string, cwd = folder): Session {
  const began = performance.now();
  const child = new Deno.Command("script", {
    args: ["-qfec", `stty cols 80 rows 24; exec ${command}`, "/dev/null"],
    cwd,
    stdin: "piped",
    stdout: "piped",
    env: { TERM: "xterm-256color", LC_ALL: "C.UTF-8", XDG_STATE_HOME: state },
  }).spawn();
  const writer = child.stdin.getWriter();
  let output = "";
  let wake = () => {};
  (async () => {
    for await (const chunk of child.stdout) {
      output += decoder.decode(chunk);
      wake();
    }
  })();
  return {
    async until(text) {
      for (;;) {
        const at = output.indexOf(text);
        if (at >= 0) {
          output = output.slice(at + text.length);
          return performance.now() - began;
        }
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
    type: (text) => writer.write(new TextEncoder().encode(text)),
    forget: () => void (output = ""),
    get pid() {
      const children = `/proc/${child.pid}/task/${child.pid}/children`;
      return Number(Deno.readTextFileSync(children).trim().split(" ").at(-1));
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

/** Types letters one at a time; returns the milliseconds to each echo. */
async function echoes(session: Session, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    // A frame may repeat earlier letters, so the next one differs from them.
    times.push(await answerTo(session, "qzjxvwkyQZJXVWKY"[i % 16]!));
  }
  return times;
}

/** Types `key`; returns the milliseconds until `text` is on the screen. */
function answerTo(session: Session, key: string, text = key): Promise<number> {
  session.forget();
  return timeOf(async () => {
    await session.type(key);
    await session.until(text);
  });
}

/** The mark of a list's chosen row, as bytes. */
const CHOSEN = "\xe2\x9d\xaf";

/** Opens a list by `key` five times. Returns the milliseconds to its rows: the first, and the others' median. */
async function lists(session: Session, key: string, between: number): Promise<[number, number]> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    times.push(await answerTo(session, key, CHOSEN));
    await pause(200);
    await session.type("\x7f");
    await pause(between);
  }
  return [times.shift()!, median(times)];
}

/** A folder of 100 000 files in 400 folders. */
async function largeFolder(): Promise<string> {
  const large = `${folder}/large`;
  for (let i = 0; i < 400; i++) {
    await Deno.mkdir(`${large}/folder${i}`, { recursive: true });
    for (let k = 0; k < 250; k++) Deno.writeTextFileSync(`${large}/folder${i}/file${k}.ts`, "");
  }
  return large;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const cpuOf = (pid: number) => {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10; // ticks of 10 ms
};

try {
  await using server = await startServer();
  const { url } = server;
  const bundle = `${folder}/bundle/main.js`;
  await new Deno.Command(`${root}scripts/bundle`, { args: [`${folder}/bundle`] }).output();
  const v8 = await launchFlags();
  const ours = `${Deno.execPath()} run -A ${v8} ${bundle} --base-url ${url} --model bench`;
  const readline = "env 'PS1=> ' bash --norc --noprofile -i";
  const prompt = async (command: string) => {
    await using session = start(command);
    return await session.until("> ");
  };
  const prompts = await inPairs(9, () => prompt(ours), () => prompt(readline));
  console.log(`the prompt             ${compared(prompts, "ms")} of bash`);
  for (const length of [0, 10_000]) {
    await using a = start(ours);
    await a.until("> ");
    await using b = start(readline);
    await b.until("> ");
    for (const session of [a, b]) {
      // A terminal's input queue takes no more at once.
      for (let typed = 0; typed < length; typed += 500) {
        await session.type("o".repeat(500));
        await pause(50);
      }
      await pause(300);
      await echoes(session, 20);
    }
    const [x, y] = [await echoes(a, 200), await echoes(b, 200)];
    const rows = x.map((ms, i) => [ms, y[i]!] as const);
    console.log(`key to echo, ${`${length}`.padEnd(9)} ${compared(rows, "ms", 2)} of readline`);
  }
  for (const [key, name, cwd] of [["/", "", folder], ["@", " of 100 000", await largeFolder()]]) {
    await using session = start(ours, cwd);
    await session.until("> ");
    await pause(500);
    // The program forgets a list after three seconds, so each one is made again.
    const [first, other] = await lists(session, key!, key === "@" ? 3500 : 200);
    console.log(
      `${`key to list, ${key}${name}`.padEnd(24)} ${other.toFixed(1)} ms, the first one ${
        first.toFixed(1)
      } ms`,
    );
  }
  await using session = start(ours);
  await session.until("> ");
  await pause(500);
  const before = cpuOf(session.pid);
  await pause(3000);
  const idle = memoryOf(session.pid, "VmRSS").toFixed(0);
  console.log(`idle for 3 s           ${cpuOf(session.pid) - before} ms of CPU, ${idle} MB`);
  // The status line shows the server's count only when the turn is over, an estimate before.
  const ms = await answerTo(session, "big\r", "ctx 2.0k");
  const [now, peak] = (["VmRSS", "VmHWM"] as const).map((one) =>
    memoryOf(session.pid, one).toFixed(0)
  );
  const seconds = (ms / 1000).toFixed(2);
  console.log(`2 MB in 500 000 deltas ${seconds} s on the screen, ${now} MB, at most ${peak} MB`);
} finally {
  for (const one of [folder, state]) await Deno.remove(one, { recursive: true });
}
Deno.exit();
