/** `${VAR}`, `${VAR:-default}`, `${env:VAR}` and `{env:VAR}`; never `$VAR`. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|(?<!\$)\{env:([A-Za-z_]\w*)\}/g;

/** Returns `text` with its variables expanded once. `missing` throws for one with neither value nor default. */
export function withVariables(
  text: string,
  env: (name: string) => string | undefined,
  missing: (name: string) => never,
): string {
  return text.replace(VARIABLE, (_, one: string, usual: string | undefined, other: string) => {
    const name = one ?? other;
    return env(name) ?? usual ?? missing(name);
  });
}
