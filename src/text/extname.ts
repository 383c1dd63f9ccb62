/** The extension of a path in lower case, without its dot; empty where there is none. */
export function extname(path: string): string {
  return /[^./\\][^/\\]*\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}
