/** The extension of a path in lower case, without its dot; empty where there is none. */
export function extname(path: string): string {
  return /[^./\\][^/\\]*\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** True for the name of a file that may be an image which models see. */
export function isImageName(name: string): boolean {
  return /\.(png|jpe?g|webp|gif)$/i.test(name);
}
