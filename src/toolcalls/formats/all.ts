import { bareJson } from "./bare.ts";
import { deepseek } from "./deepseek.ts";
import { fence } from "./fence.ts";
import type { Format } from "../format.ts";
import { functionary } from "./functionary.ts";
import { functionTag } from "./function_tag.ts";
import { gemmaFence, gemmaMarks } from "./gemma.ts";
import { glm } from "./glm.ts";
import { harmony } from "./harmony.ts";
import { invokeTags } from "./invoke_tag.ts";
import { jsonTags } from "./json_tags.ts";
import { kimi, kimiStripped } from "./kimi.ts";
import { mistral } from "./mistral.ts";
import { barePython, pythonTags } from "./pythonic.ts";
import { cohereAction, react } from "./react.ts";
import { tag } from "./tag.ts";

/** Every format, in the order in which those that begin alike are tried. */
export const formats: readonly Format[] = [
  tag,
  fence,
  ...jsonTags,
  functionTag,
  functionary,
  ...invokeTags,
  ...glm,
  ...gemmaMarks,
  gemmaFence,
  mistral,
  kimi,
  kimiStripped,
  ...deepseek,
  harmony,
  ...pythonTags,
  react,
  cohereAction,
  ...bareJson,
  barePython,
];
