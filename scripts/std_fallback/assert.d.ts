// The fallback's types of @std/assert. Each `// ./name` line opens the part that becomes the types of
// that subpath; "." re-exports them all.
// deno-lint-ignore-file no-explicit-any

// ./assert
export declare function assert(expr: unknown, msg?: string): asserts expr;

// ./assertion-error
export declare class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

// ./equal
export declare function equal(a: unknown, b: unknown): boolean;

// ./equals
export declare function assertEquals<T>(actual: T, expected: T, msg?: string): void;

// ./exists
export declare function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T>;

// ./fail
export declare function fail(msg?: string): never;

// ./false
export type Falsy = false | 0 | 0n | "" | null | undefined;
export declare function assertFalse(expr: unknown, msg?: string): asserts expr is Falsy;

// ./greater
export declare function assertGreater<T>(actual: T, expected: T, msg?: string): void;

// ./instance-of
export declare function assertInstanceOf<T extends abstract new (...args: any[]) => any>(
  actual: unknown,
  expectedType: T,
  msg?: string,
): asserts actual is InstanceType<T>;

// ./match
export declare function assertMatch(actual: string, expected: RegExp, msg?: string): void;

// ./not-equals
export declare function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;

// ./not-instance-of
export declare function assertNotInstanceOf<A, T>(
  actual: A,
  unexpectedType: abstract new (...args: any[]) => T,
  msg?: string,
): asserts actual is Exclude<A, T>;

// ./not-match
export declare function assertNotMatch(actual: string, expected: RegExp, msg?: string): void;

// ./not-strict-equals
export declare function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void;

// ./object-match
export declare function assertObjectMatch(
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void;

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
