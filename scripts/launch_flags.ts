/** The flags for V8 with which scripts/copilot and the binary start, for benches. */
export async function launchFlags(root: string): Promise<string> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", '. scripts/permissions; printf %s "$V8"'],
    cwd: root,
  }).output();
  return new TextDecoder().decode(stdout);
}
