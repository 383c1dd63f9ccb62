// The fallback's types of @std/assert. Each `// ./name` line opens the part that becomes the types of
// that subpath; "." re-exports them all.
// deno-lint-ignore-file no-explicit-any

// ./assert
export declare function assert(expr: unknown, msg?: string): asserts expr;

// ./equals
export declare function assertEquals<T>(actual: T, expected: T, msg?: string): void;

// ./match
export declare function assertMatch(actual: string, expected: RegExp, msg?: string): void;

// ./not-equals
export declare function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;

// ./rejects
export declare function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
export declare function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: abstract new (...args: any[]) => E,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;

// ./strict-equals
export declare function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T;

// ./string-includes
export declare function assertStringIncludes(actual: string, expected: string, msg?: string): void;

// ./throws
export declare function assertThrows(fn: () => unknown, msg?: string): unknown;
export declare function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: abstract new (...args: any[]) => E,
  msgIncludes?: string,
  msg?: string,
): E;
