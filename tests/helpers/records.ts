/** The files of sessions below `root`, the lowest path first. @module */

export function recordsBelow(root: string): string[] {
  return [...Deno.readDirSync(root)].flatMap(({ name, isDirectory }) =>
    isDirectory ? recordsBelow(`${root}/${name}`) : [`${root}/${name}`]
  ).sort();
}
