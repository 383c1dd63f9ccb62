/** True if the terminal shows UTF-8, by its locale (POSIX: LC_ALL, LC_CTYPE, LANG). */
export function showsUtf8(
  env: { get(name: string): string | undefined } = Deno.env,
  os: string = Deno.build.os,
): boolean {
  const locale = env.get("LC_ALL") || env.get("LC_CTYPE") || env.get("LANG") || "";
  return os === "windows" || /utf-?8/i.test(locale);
}
