/** Further conditions on the path. */
export interface ExistsOptions {
  isDirectory?: boolean;
  isFile?: boolean;
}

/** Tests whether `path` exists and meets `options`. */
export function existsSync(path: string | URL, options: ExistsOptions = {}): boolean {
  try {
    const info = Deno.statSync(path);
    return (!options.isDirectory || info.isDirectory) && (!options.isFile || info.isFile);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** `existsSync` in the asynchronous form. */
// deno-lint-ignore require-await
export async function exists(path: string | URL, options: ExistsOptions = {}): Promise<boolean> {
  return existsSync(path, options);
}
