/** Runs `run` with environment variables of this process, and restores them. */
export async function withVariables(
  variables: Readonly<Record<string, string>>,
  run: () => void | Promise<void>,
): Promise<void> {
  const before = Object.keys(variables).map((name) => [name, Deno.env.get(name)] as const);
  try {
    for (const [name, value] of Object.entries(variables)) Deno.env.set(name, value);
    await run();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
}
