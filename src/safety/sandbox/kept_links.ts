/** Links that no mount can protect: they are put back where a command replaced them. @module */

import { attempt } from "../../attempt.ts";

/**
 * Notes where links lead; the function that is returned puts back those that were replaced since, and says so
 * in one line for the model. What stood in their place is kept beside them.
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
