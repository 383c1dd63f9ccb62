/** Makes `dir` and its parents where they are missing. */
export function ensureDirSync(dir: string | URL): void {
  Deno.mkdirSync(dir, { recursive: true });
}

/** `ensureDirSync` in the asynchronous form. */
// deno-lint-ignore require-await
export async function ensureDir(dir: string | URL): Promise<void> {
  ensureDirSync(dir);
}
