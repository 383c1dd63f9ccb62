/** Questions of a server to the user, read from its request. @module */

import { invalidParams, type RpcParams } from "../../rpc/message.ts";
import type { Elicitation, FormField } from "../../session/form.ts";
import { isObject, objectOr } from "../../text/json.ts";

const MAX_QUESTION = 2000;

const words = (value: unknown, max = MAX_QUESTION): string =>
  typeof value === "string" ? value.slice(0, max).toWellFormed() : "";

export function elicitationOf(server: string, params: RpcParams): Elicitation {
  const message = words(params.message);
  if (params.mode === "url") {
    const url = typeof params.url === "string" ? URL.parse(params.url) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw wrong("its url is not a web address");
    }
    return { mode: "url", server, message, url: url.href };
  }
  const schema = objectOr(params.requestedSchema);
  const properties = objectOr(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(properties);
  const fields = entries.map(([name, field]) => fieldOf(name, field, required.includes(name)));
  return { mode: "form", server, message, fields };
}

const wrong = (why: string) => invalidParams(`Cannot ask as ${why}`);

const PLAIN_TYPES = ["string", "number", "integer", "boolean"] as const;

function fieldOf(name: string, given: unknown, isRequired: boolean): FormField {
  if (!isObject(given)) throw wrong(`the field ${name} is not an object`);
  const isList = given.type === "array";
  const source = isList && isObject(given.items) ? given.items : given;
  const options = optionsOf(source, given.enumNames);
  const type = options.length > 0
    ? isList ? "choices" : "choice"
    : PLAIN_TYPES.find((one) => one === given.type);
  if (type === undefined) throw wrong(`the field ${name} is of a type that no form has`);
  return {
    name,
    title: words(given.title, 200) || name,
    ...given.description !== undefined && { description: words(given.description, 500) },
    type,
    isRequired,
    options,
    ...given.default !== undefined && { default: given.default },
  };
}

function optionsOf(source: Record<string, unknown>, names: unknown): FormField["options"] {
  const titles = Array.isArray(names) ? names : [];
  const plain = Array.isArray(source.enum) ? source.enum : [];
  const given: unknown[] = [source.oneOf, source.anyOf].find(Array.isArray) ??
    plain.map((value, i) => ({ const: value, title: titles[i] }));
  return given.map(objectOr).flatMap(({ const: value, title }) =>
    typeof value === "string" ? [{ value, title: words(title, 200) || value }] : []
  );
}
