// The fallback's types of @std/cli, for the options that are used. Each `// ./name` line opens the part that
// becomes the types of that subpath.

// ./parse-args
type List<T extends string> = T | readonly T[];
type WithDefaults<F, D> =
  & Omit<F, keyof D>
  & { [K in keyof D]: K extends keyof F ? D[K] | NonNullable<F[K]> : unknown };
export declare function parseArgs<
  B extends string = never,
  S extends string = never,
  D extends Record<string, unknown> = Record<never, never>,
>(
  args: readonly string[],
  options?: {
    boolean?: List<B>;
    string?: List<S>;
    default?: D;
    unknown?: (arg: string, key?: string, value?: unknown) => unknown;
  },
):
  & Record<string, unknown>
  & WithDefaults<{ [K in B]: boolean } & { [K in S]?: string }, D>
  & { _: (string | number)[] };
