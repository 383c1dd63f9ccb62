/** Makes `dir` and its parents where they are missing. */
export async function ensureDir(dir: string | URL): Promise<void> {
  await Deno.mkdir(dir, { recursive: true });
}
