import { bareJson, trailingJson } from "./bare_json.ts";
import { bareNamed } from "./bare_named.ts";
import type { CallFormat } from "../format.ts";
import { functionTag, kimiK3 } from "./function_tag.ts";
import { gemma, gemmaFence } from "./gemma.ts";
import { glm } from "./glm.ts";
import { invokeTags } from "./invoke_tag.ts";
import { jsonFence, jsonTags, plainFence, toolcallTag } from "./json_tags.ts";
import { namedJson } from "./named_json.ts";
import { framedTag, namedElement, namedTag } from "./named_tag.ts";
import { barePython, pythonTags } from "./pythonic.ts";
import { cohereAction, reactPlain } from "./react.ts";

/** All formats. Among those with the same marker, the first that reads a call wins. */
export const formats: readonly CallFormat[] = [
  ...[toolcallTag, jsonFence, ...jsonTags, functionTag, ...invokeTags, ...glm, ...namedJson],
  ...[...gemma, gemmaFence, plainFence, kimiK3, ...pythonTags, cohereAction, reactPlain],
  ...[namedTag, framedTag, namedElement, trailingJson, ...bareJson, barePython, bareNamed],
];
