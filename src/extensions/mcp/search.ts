/** Searches tools by words, and describes them for a model. @module */

import { isObject } from "../../text/json.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { schemaIn } from "../../tools/schema.ts";
import type { JsonSchema, Tool } from "../../types/tool.ts";

const MAX_FOUND = 6;
const MAX_DESCRIPTION = 160;
const MAX_WHOLE = 3000;
/** The maximum characters of an argument's type, and how deep in it types are named. */
const MAX_TYPE = 160;
const MAX_DEPTH = 3;
/** The weight of a word in a tool's name, relative to one in its description. */
const NAME_WEIGHT = 4;

const wordsIn = (text: string): string[] =>
  // Splits `createIssue` and `create_issue` into words.
  text.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

export function searchTools(tools: readonly Tool[], query: string): Tool[] {
  const texts = tools.map((tool) => ({
    tool,
    score: 0,
    name: wordsIn(tool.name),
    description: wordsIn(tool.description.slice(0, 1000)),
  }));
  for (const word of new Set(wordsIn(query))) {
    const fits = (one: string) =>
      one === word || word.length > 3 && one.startsWith(word) ||
      one.length > 3 && word.startsWith(one);
    const points = texts.map(({ name, description }) =>
      (name.some(fits) ? NAME_WEIGHT : 0) + (description.some(fits) ? 1 : 0)
    );
    // A word of few tools says more than one of many.
    const weight = Math.log(1 + tools.length / (1 + points.filter(Boolean).length));
    points.forEach((one, i) => texts[i]!.score += one * weight);
  }
  return texts.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)
    .slice(0, MAX_FOUND).map(({ tool }) => tool);
}

export function toolLine({ name, description, parameters }: Tool): string {
  const words = shortened(oneLine(description), MAX_DESCRIPTION);
  return `${name}(${argumentList(parameters)})${words && `: ${words}`}`;
}

export function wholeTool({ name, description, parameters }: Tool): string {
  const schema = shortened(JSON.stringify(parameters), MAX_WHOLE);
  const words = shortened(oneLine(description), MAX_WHOLE);
  return `${name}: ${words}\narguments: ${schema}`;
}

function argumentList(schema: JsonSchema, root = schema, depth = 0): string {
  const { properties, required } = schema;
  if (!isObject(properties)) return "";
  const needed = Array.isArray(required) ? required : [];
  const names = Object.keys(properties).sort((a, b) =>
    Number(needed.includes(b)) - Number(needed.includes(a))
  );
  const shown = names.slice(0, 12).map((name) =>
    `${oneLine(name).slice(0, 60)}${needed.includes(name) ? "" : "?"}: ${
      typeText(properties[name], root, depth)
    }`
  );
  return [...shown, ...names.length > 12 ? ["..."] : []].join(", ");
}

function typeText(part: unknown, root: JsonSchema, depth: number): string {
  const schema = schemaIn(part, root);
  const { type, properties, items } = schema;
  if (Array.isArray(schema.enum)) {
    return unionText(schema.enum.map((one) => JSON.stringify(one)));
  }
  if (type === undefined && Array.isArray(schema.anyOf) && depth < MAX_DEPTH) {
    return unionText(schema.anyOf.map((one) => typeText(one, root, depth + 1)));
  }
  return unionText(
    [type].flat().map((one) => {
      if (depth < MAX_DEPTH && one === "array") {
        const item = typeText(items, root, depth + 1);
        return item.includes("|") ? `(${item})[]` : `${item}[]`;
      }
      return depth < MAX_DEPTH && one === "object" && isObject(properties)
        ? `{${argumentList(schema, root, depth + 1)}}`
        : String(one ?? "any").slice(0, 20);
    }),
  );
}

const unionText = (texts: string[]): string =>
  shortened(oneLine([...new Set(texts)].join("|")), MAX_TYPE);
