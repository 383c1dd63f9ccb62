// The fallback's types of @std/cli. Each `// ./name` line opens the part that becomes the types of
// that subpath.

// ./parse-args
type List<T extends string> = T | readonly T[];
type Flags<B extends string, S extends string, C extends string, N extends string> =
  & { [K in Exclude<B, C>]: boolean }
  & { [K in Exclude<S, C>]?: string | (K extends N ? false : never) }
  & { [K in Extract<B, C>]: boolean[] }
  & { [K in Extract<S, C>]: string[] };
type WithDefaults<F, D> =
  & Omit<F, keyof D>
  & { [K in keyof D]: K extends keyof F ? D[K] | NonNullable<F[K]> : unknown };
// deno-lint-ignore no-explicit-any
export type Args<F = Record<string, any>, DD = undefined> =
  & F
  & { _: (string | number)[] }
  & (DD extends true ? { "--": string[] } : unknown);
export declare function parseArgs<
  DD extends boolean | undefined = undefined,
  B extends string = never,
  S extends string = never,
  C extends string = never,
  N extends string = never,
  D extends Record<string, unknown> = Record<never, never>,
>(
  args: readonly string[],
  options?: {
    "--"?: DD;
    alias?: Record<string, string | readonly string[]>;
    boolean?: List<B>;
    string?: List<S>;
    collect?: List<C>;
    negatable?: List<N>;
    default?: D;
    stopEarly?: boolean;
    unknown?: (arg: string, key?: string, value?: unknown) => unknown;
  },
): Args<Record<string, unknown> & WithDefaults<Flags<B, S, C, N>, D>, DD>;
