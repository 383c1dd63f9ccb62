/** Returns a function that registers a test, which is skipped if `ignore` is true. Call it `test`. */
export const testUnless =
  (ignore: boolean) => (name: string, fn: () => void | Promise<void>): void =>
    Deno.test({ name, ignore, fn });

/** Registers a test that needs a POSIX system. */
export const posixTest: ReturnType<typeof testUnless> = testUnless(Deno.build.os === "windows");
