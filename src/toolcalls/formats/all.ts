import { bareJson, trailingJson } from "./bare_json.ts";
import { bareNamed } from "./bare_named.ts";
import { callingTool, namedJson } from "./calling_tool.ts";
import { deepseek } from "./deepseek.ts";
import type { CallFormat } from "../format.ts";
import { functionary } from "./functionary.ts";
import { functionTag } from "./function_tag.ts";
import { gemma, gemmaFence } from "./gemma.ts";
import { glm } from "./glm.ts";
import { harmony } from "./harmony.ts";
import { invokeTags } from "./invoke_tag.ts";
import { jsonFence, jsonTags, toolcallTag } from "./json_tags.ts";
import { kimi } from "./kimi.ts";
import { kimiK3 } from "./kimi_k3.ts";
import { mistral } from "./mistral.ts";
import { framedTag, namedElement, namedTag } from "./named_tag.ts";
import { barePython, pythonTags } from "./pythonic.ts";
import { cohereAction, react, reactPlain } from "./react.ts";

/** Every format. Of those with the same marker, the first that reads a call wins. */
export const formats: readonly CallFormat[] = [
  ...[
    toolcallTag,
    jsonFence,
    ...jsonTags,
    functionTag,
    functionary,
    ...invokeTags,
    ...glm,
    namedJson,
  ],
  ...[...gemma, gemmaFence, mistral, ...kimi, kimiK3, ...deepseek, harmony],
  ...[
    ...pythonTags,
    react,
    cohereAction,
    reactPlain,
    callingTool,
    namedTag,
    framedTag,
    namedElement,
    trailingJson,
    ...bareJson,
    barePython,
    bareNamed,
  ],
];
