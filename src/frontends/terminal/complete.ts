/** Completions of the input line: commands and `@path` as they are typed, arguments by Tab. @module */

import type { ArgumentChoice, CommandInfo } from "../../session/report.ts";
import type { Session } from "../../session/session.ts";
import type { Completer, Completion, Offer } from "../../terminal/line/completion.ts";
import { bestFits } from "../../text/fuzzy.ts";

/** The most items that are offered. */
const MAX_ITEMS = 50;

/** Completes what is typed into a session. */
export function completer(session: Session): Completer {
  /** The files, as they were when the word behind this text was begun. */
  let listed: { text: string; paths: Promise<string[]> } | undefined;
  const pathsBehind = (text: string) => {
    if (listed?.text !== text) listed = { text, paths: session.paths() };
    return listed.paths;
  };
  return async (before, after): Promise<Completion | undefined> => {
    const mention = /(?:^|[\s(])@("?)([^\s"]*)$/.exec(before);
    if (mention) {
      const [, quote, word] = mention;
      const paths = await pathsBehind(before.slice(0, mention.index));
      const end = /^\s/.test(after) ? "" : " ";
      const items = bestFits(word!, paths, (path) => path, MAX_ITEMS)
        .map((path): Offer => {
          const name = quote || /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
          return { label: path, text: name + end, isOpen: true };
        });
      return { replace: quote!.length + word!.length + 1, items, isTyped: true };
    }
    const [, name, gap, argument] = /^\/([\w:-]*)(?:(\s+)(?:-.*\s)?(.*))?$/i.exec(before) ?? [];
    if (name === undefined) return undefined;
    if (gap === undefined) {
      const items = bestFits(name, await session.commands(), (command) => command.name).map(offer);
      return { replace: before.length, items, isTyped: true };
    }
    const items = await session.complete(name, argument!);
    const offers = items.slice(0, MAX_ITEMS).map((item) =>
      typeof item === "string" ? item : argumentOffer(item)
    );
    return { replace: argument!.length, items: offers };
  };
}

function argumentOffer({ argument, label, detail }: ArgumentChoice): Offer {
  const about = [label === argument ? "" : label, detail].filter(Boolean).join(" · ");
  return { label: argument, detail: about === "" ? undefined : about };
}

function offer({ name, argument, help }: CommandInfo): Offer {
  return {
    label: `/${name}`,
    detail: help,
    text: argument === undefined ? `/${name}` : `/${name} `,
    // An argument in brackets may be left out.
    isOpen: argument !== undefined && !argument.startsWith("["),
  };
}
