/** Links that no mount can protect: they are restored if a command replaced them. @module */

import { attempt } from "../../attempt.ts";

/**
 * Saves the targets of links. The returned function restores replaced links and describes this to the model in
 * one line. Replacements are preserved beside them.
 */
export function keepLinks(paths: readonly string[]): () => string | undefined {
  const targets = paths.flatMap((path) => {
    const target = leadsTo(path);
    return target === undefined ? [] : [{ path, target }];
  });
  return () => {
    const said = targets.filter(({ path, target }) => leadsTo(path) !== target).map(
      ({ path, target }) => {
        const aside = `${path}.replaced-${crypto.randomUUID().slice(0, 8)}`;
        const isKept = attempt(() => (Deno.renameSync(path, aside), true));
        const isBack = attempt(() => (Deno.symlinkSync(target, path), true));
        return `${path} is a link that commands may not replace: ` +
          (isBack ? "it was put back" : "it could not be put back") +
          (isKept ? `, what the command made is ${aside}` : "");
      },
    );
    return said.length === 0 ? undefined : said.join("; ");
  };
}

const leadsTo = (path: string) => attempt(() => Deno.readLinkSync(path));
