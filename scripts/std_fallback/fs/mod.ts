export * from "./ensure_dir.ts";
export * from "./exists.ts";
export * from "./walk.ts";
