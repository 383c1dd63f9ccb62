/** Networks with only 127.0.0.1, in which commands reach the servers of jobs. @module */

import { systemProgram } from "../../start_program.ts";
import { within } from "../../wire/wait.ts";
import { entryAt } from "../places.ts";

/** The trusted paths of the program that enters namespaces. Without it, each command has its own network. */
const NSENTER = ["/usr/bin/nsenter", "/bin/nsenter"];
const nsenter = () => NSENTER.find((path) => entryAt(path) !== undefined);
export const canShare = (): boolean => nsenter() !== undefined;

const START_NETWORK_MS = 5000;
/** bubblewrap sets up 127.0.0.1, then a shell waits for the end of a pipe from this program. */
const HOLDER =
  "--unshare-user --unshare-net --cap-drop ALL --die-with-parent --ro-bind / / --info-fd 1 -- /bin/sh -c"
    .split(" ");
/** Some systems refuse the namespaces of a command there. */
const TEST = "--unshare-user --unshare-pid --ro-bind / / -- /bin/sh -c :".split(" ");

interface Network {
  /** The words before bubblewrap that enter it. */
  enter: string[];
  end(): void;
}

async function startNetwork(bwrap: string, onEnd: () => unknown): Promise<Network | undefined> {
  const program = nsenter();
  if (program === undefined) return undefined;
  const how = { cwd: "/", detached: true };
  const child = systemProgram(bwrap, {
    ...how,
    args: [...HOLDER, "echo >&2; read end"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  child.unref();
  child.status.then(onEnd);
  const errors = child.stderr.getReader();
  const end = () => {
    onEnd();
    for (const closing of [child.stdin.close(), errors.cancel()]) closing.catch(() => {});
  };
  const started = Promise.all([new Response(child.stdout).text(), errors.read()]);
  const [info = ""] = await within(START_NETWORK_MS, started) ?? [];
  const id = /"child-pid": (\d+)/.exec(info)?.[1] ?? "";
  const enter = [program, ..."-U -n --preserve-credentials -t".split(" "), id];
  const test = systemProgram(program, {
    ...how,
    args: [...enter.slice(1), bwrap, ...TEST],
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(START_NETWORK_MS),
  });
  if (id !== "" && (await test.output()).success) return { enter, end };
  end();
  return undefined;
}

/** The networks of running jobs. A program reaches no server of one that has other rights. */
export class SharedNetworks {
  readonly #all = new Map<string, { jobs: number; network: Promise<Network | undefined> }>();

  /** Returns the words before `bwrap` that enter the network of jobs with these rights. Call `leave` afterwards. */
  async join(rights: string, bwrap: string, isJob: boolean) {
    const shared = this.#all.get(rights) ?? { jobs: 0, network: Promise.resolve(undefined) };
    if (isJob && shared.jobs++ === 0) {
      this.#all.set(rights, shared);
      const forget = () => this.#all.get(rights) === shared && this.#all.delete(rights);
      shared.network = startNetwork(bwrap, forget).catch(() => undefined);
    }
    const { enter } = await shared.network ?? {};
    const leave = () => {
      if (isJob && --shared.jobs === 0) void shared.network.then((network) => network?.end());
    };
    return { enter, leave };
  }
}
