/**
 * What Tab completes: commands, their arguments, and `@path`.
 *
 * @module
 */

import type { CopilotAgent } from "../../agent/agent.ts";
import { resolvePath } from "../../text/paths.ts";
import type { Completer, Completion } from "../../terminal/line/completion.ts";
import { COMMANDS, expandHome, type Session } from "../../session/commands/commands.ts";
import { MODEL_FLAGS } from "../../cli/model_flags.ts";

/** The paths of a folder are listed anew after so many milliseconds. */
const LIST_MS = 5000;
/** The most paths that are looked at, and the most that are offered. */
const MAX_PATHS = 100_000;
const MAX_ITEMS = 50;

/** What `/model` takes, but for a key, as what is typed is kept. */
const OFFERED_FLAGS = MODEL_FLAGS.filter((name) => name !== "api-key").map((name) => `--${name}`);

/** Completes what is typed into a session. */
export function completer(session: Session): Completer {
  let listed: { folder: string; at: number; paths: Promise<string[]> } | undefined;
  function paths(): Promise<string[]> {
    const folder = session.agent.state.workingDir;
    const now = performance.now();
    if (listed?.folder !== folder || now - listed.at > LIST_MS) {
      listed = { folder, at: now, paths: listPaths(session.agent) };
    }
    return listed.paths;
  }
  return async (before): Promise<Completion | undefined> => {
    const mention = /(?:^|[\s(])@("?)([^\s"]*)$/.exec(before);
    if (mention) {
      const [, quote, word] = mention;
      const items = best(word!, await paths()).map((path) =>
        quote || /[\s"]/.test(path) ? `@"${path}"` : `@${path}`
      );
      return { replace: quote!.length + word!.length + 1, items };
    }
    const [, name, gap, argument] = /^\/([a-z]*)(?:(\s+)(?:-.*\s)?(.*))?$/i.exec(before) ?? [];
    if (name === undefined) return undefined;
    if (gap === undefined) {
      const items = COMMANDS.map((command) => `/${command.name}`).filter((n) =>
        n.startsWith(before)
      );
      return { replace: before.length, items: items.length === 1 ? [`${items[0]} `] : items };
    }
    if (name === "model" && argument!.startsWith("-")) {
      const items = OFFERED_FLAGS.filter((flag) => flag.startsWith(argument!));
      return { replace: argument!.length, items: items.map((flag) => `${flag} `) };
    }
    const values = name === "cd"
      ? folders(session.agent, argument!)
      : await COMMANDS.find((command) => command.name === name)?.values?.(session) ?? [];
    return {
      replace: argument!.length,
      items: values.filter((value) => value.startsWith(argument!)).slice(0, MAX_ITEMS),
    };
  };
}

/** The files below the working directory that are neither hidden nor ignored, newest first. */
async function listPaths(agent: CopilotAgent): Promise<string[]> {
  const [{ runSearch }, { findTarget }] = await Promise.all([
    import("../../tools/search/pool.ts"),
    import("../../tools/search/target.ts"),
  ]);
  const context = agent.toolContext(AbortSignal.timeout(LIST_MS));
  const { walk, prefix } = await findTarget(context, ".", "**/*", false);
  const found = await runSearch({ walk, prefix, limit: MAX_PATHS }, [walk.root], context.signal);
  return found.files.map(({ path }) => path);
}

/** The paths that `word` fits best: in the name, then in the path, then letter by letter. */
export function best(word: string, paths: readonly string[]): string[] {
  const wanted = word.toLowerCase();
  const ranks: string[][] = [[], [], [], []];
  for (const path of paths) {
    const rank = rankOf(wanted, path.toLowerCase());
    if (rank < ranks.length && ranks[rank]!.length < MAX_ITEMS) ranks[rank]!.push(path);
    if (ranks[0]!.length === MAX_ITEMS) break;
  }
  return ranks.flat().slice(0, MAX_ITEMS);
}

function rankOf(word: string, path: string): number {
  if (path.startsWith(word)) return 0;
  const at = path.lastIndexOf(word);
  const name = path.lastIndexOf("/") + 1;
  if (at >= 0) return at === name ? 0 : at > name ? 1 : 2;
  let next = 0;
  for (let i = 0; i < path.length && next < word.length; i++) {
    if (path[i] === word[next]) next++;
  }
  return next === word.length ? 3 : 4;
}

/** The folders that begin like `path`, with `/` at their ends. */
function folders(agent: CopilotAgent, path: string): string[] {
  const above = path.slice(0, path.lastIndexOf("/") + 1);
  const hidden = path.slice(above.length).startsWith(".");
  const folder = resolvePath(agent.state, expandHome(above) || ".");
  const found: string[] = [];
  for (const { name, isDirectory, isSymlink } of Deno.readDirSync(folder)) {
    if ((isDirectory || isSymlink) && (hidden || !name.startsWith("."))) {
      found.push(`${above}${name}/`);
    }
  }
  return found.sort();
}
