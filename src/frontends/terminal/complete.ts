/** Completion by Tab: commands, their arguments, and `@path`. @module */

import type { Session } from "../../session/session.ts";
import type { Completer, Completion } from "../../terminal/line/completion.ts";

/** The most items that are offered. */
const MAX_ITEMS = 50;

/** Completes what is typed into a session. */
export function completer(session: Session): Completer {
  return async (before): Promise<Completion | undefined> => {
    const mention = /(?:^|[\s(])@("?)([^\s"]*)$/.exec(before);
    if (mention) {
      const [, quote, word] = mention;
      const items = bestPaths(word!, await session.paths()).map((path) =>
        quote || /[\s"]/.test(path) ? `@"${path}"` : `@${path}`
      );
      return { replace: quote!.length + word!.length + 1, items };
    }
    const [, name, gap, argument] = /^\/([\w:-]*)(?:(\s+)(?:-.*\s)?(.*))?$/i.exec(before) ?? [];
    if (name === undefined) return undefined;
    if (gap === undefined) {
      const items = (await session.commands()).map((command) => `/${command.name}`)
        .filter((command) => command.startsWith(before));
      return { replace: before.length, items: items.length === 1 ? [`${items[0]} `] : items };
    }
    const items = await session.complete(name, argument!);
    return { replace: argument!.length, items: items.slice(0, MAX_ITEMS) };
  };
}

/** The paths that `word` fits best: in the name, then in the path, then letter by letter. */
export function bestPaths(word: string, paths: readonly string[]): string[] {
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
