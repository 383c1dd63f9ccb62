/** Completes the input line: commands and `@path` while typing, arguments with Tab. @module */

import type { ArgumentChoice, CommandInfo } from "../../../session/data.ts";
import { commandsOf, completeArgument } from "../../../session/commands/registry.ts";
import type { Session } from "../../../session/session.ts";
import type { Completer, Completion, CompletionItem } from "../line/completion.ts";
import { bestFits } from "../../../text/fuzzy.ts";
import type { FittingPaths } from "../../../tools/search/path_finder.ts";

const MAX_ITEMS = 50;

export function completer(session: Session): Completer {
  return async (before, after): Promise<Completion | undefined> => {
    const mention = /(?:^|[\s(])@("?)([^\s"]*)$/.exec(before);
    if (mention) {
      const [, quote, word] = mention;
      return pathCompletion(await session.findPaths(word!), {
        replace: quote!.length + word!.length + 1,
        isQuoted: quote !== "",
        end: /^\s/.test(after) ? "" : " ",
      });
    }
    const [, name, gap, argument] =
      /^\/([\p{L}\p{M}\p{N}_:-]*)(?:(\s+)(?:-.*\s)?(.*))?$/u.exec(before) ?? [];
    if (name === undefined) return undefined;
    if (gap === undefined) {
      const items = bestFits(name, commandsOf(session), (command) => command.name).map(offer);
      return { replace: before.length, items, isTyped: true };
    }
    const items = await completeArgument(session, name, argument!);
    const offers = items.slice(0, MAX_ITEMS).map((item) =>
      typeof item === "string" ? item : argumentOffer(item)
    );
    return { replace: argument!.length, items: offers };
  };
}

/** Completes a `mention` of a path; its `end` is inserted after the path. */
function pathCompletion(
  { paths, more }: FittingPaths,
  mention: { replace: number; isQuoted: boolean; end: string },
): Completion {
  const items = paths.map((path): CompletionItem => {
    const name = mention.isQuoted || /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
    // The files of a folder are listed next.
    const end = path.endsWith("/") ? "" : mention.end;
    return { label: path, text: name + end, isOpen: true };
  });
  const completion = { replace: mention.replace, items, isTyped: true };
  if (more === undefined) return completion;
  return {
    ...completion,
    loadMore: async () => {
      const next = await more();
      return next && pathCompletion(next, mention);
    },
  };
}

function argumentOffer({ argument, label, detail }: ArgumentChoice): CompletionItem {
  const about = [label === argument ? "" : label, detail].filter(Boolean).join(" · ");
  return { label: argument, detail: about === "" ? undefined : about };
}

function offer({ name, argument, help, group }: CommandInfo): CompletionItem {
  // An argument in brackets is optional.
  const isUnfinished = argument !== undefined && !argument.startsWith("[");
  return {
    label: `/${name}`,
    detail: help,
    group,
    text: argument === undefined ? `/${name}` : `/${name} `,
    isOpen: isUnfinished,
    isUnfinished,
  };
}
