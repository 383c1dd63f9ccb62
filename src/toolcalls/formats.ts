import { fence } from "./fence.ts";
import type { Format } from "./format.ts";
import { tag } from "./tag.ts";

/** Every format, in the order in which those that begin alike are tried. */
export const formats: readonly Format[] = [tag, fence];
