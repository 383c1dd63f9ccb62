/** Tests whether `path` exists, as a folder if `isDirectory` is true. */
export function existsSync(path: string | URL, { isDirectory = false } = {}): boolean {
  try {
    return Deno.statSync(path).isDirectory || !isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
