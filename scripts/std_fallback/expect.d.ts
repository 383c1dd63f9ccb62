// The fallback's types of @std/expect. Each `// ./name` line opens the part that becomes the types of
// that subpath; "." re-exports them all.
// deno-lint-ignore-file no-explicit-any

// ./expect
export type AnyConstructor = new (...args: any[]) => any;
export type Async<T> = {
  [K in keyof T]: T[K] extends (...args: any[]) => unknown
    ? (...args: Parameters<T[K]>) => Promise<ReturnType<T[K]>>
    : T[K];
};
export interface Expected<IsAsync = false> {
  toBe(expected: unknown): void;
  toBeCloseTo(candidate: number, tolerance?: number): void;
  toBeDefined(): void;
  toBeFalsy(): void;
  toBeGreaterThan(expected: number): void;
  toBeGreaterThanOrEqual(expected: number): void;
  toBeInstanceOf<T extends AnyConstructor>(expected: T): void;
  toBeLessThan(expected: number): void;
  toBeLessThanOrEqual(expected: number): void;
  toBeNaN(): void;
  toBeNull(): void;
  toBeTruthy(): void;
  toBeUndefined(): void;
  toContain(expected: unknown): void;
  toContainEqual(expected: unknown): void;
  toEqual(expected: unknown): void;
  toHaveBeenCalled(): void;
  toHaveBeenCalledTimes(expected: number): void;
  toHaveBeenCalledWith(...expected: unknown[]): void;
  toHaveBeenLastCalledWith(...expected: unknown[]): void;
  toHaveBeenNthCalledWith(nth: number, ...expected: unknown[]): void;
  toHaveLength(expected: number): void;
  toHaveProperty(propName: string | string[], value?: unknown): void;
  toMatch(expected: RegExp): void;
  toMatchObject(expected: Record<PropertyKey, unknown> | Record<PropertyKey, unknown>[]): void;
  toStrictEqual(candidate: unknown): void;
  toThrow<E extends Error = Error>(
    expected?: string | RegExp | E | (new (...args: any[]) => E),
  ): void;
  not: IsAsync extends true ? Async<Expected<true>> : Expected<false>;
  resolves: Async<Expected<true>>;
  rejects: Async<Expected<true>>;
}
export declare const expect: {
  <T extends Expected = Expected>(value: unknown, customMessage?: string): T;
  addEqualityTesters(testers: ((a: any, b: any, testers: any[]) => void)[]): void;
  any(type: unknown): any;
  anything(): any;
  arrayContaining(array: any[]): any;
  closeTo(num: number, numDigits?: number): any;
  objectContaining(obj: Record<string, any>): any;
  stringContaining(str: string): any;
  stringMatching(pattern: string | RegExp): any;
  not: {
    arrayContaining(array: any[]): any;
    objectContaining(obj: Record<string, any>): any;
    stringContaining(str: string): any;
    stringMatching(pattern: string | RegExp): any;
  };
  assertions(num: number): void;
  hasAssertions(): void;
};

// ./fn
// deno-lint-ignore ban-types
export declare function fn(...stubs: Function[]): Function;
