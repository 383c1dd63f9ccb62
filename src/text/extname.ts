/** Returns the extension of a path in lower case without its dot; empty if it has no extension. */
export function extname(path: string): string {
  return /[^./\\][^/\\]*\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** True for the name of a file that may be an image that models can see. */
export function isImageName(name: string): boolean {
  return /\.(png|jpe?g|webp|gif)$/i.test(name);
}
