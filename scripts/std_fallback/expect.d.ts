// The fallback's types of @std/expect, which no file here uses yet. Each `// ./name` line opens the part
// that becomes the types of that subpath; "." re-exports them all.
// deno-lint-ignore-file no-explicit-any

// ./expect
export declare const expect: any;

// ./fn
export declare const fn: any;
