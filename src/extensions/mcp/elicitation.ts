/** Questions of a server to the user: a flat form, or an address to open. @module */

import { invalidParams, type RpcParams } from "../../rpc/message.ts";
import { isObject } from "../../text/json.ts";

export interface FormField {
  name: string;
  /** The label of the field; by default its name. */
  title: string;
  description?: string;
  type: "string" | "number" | "integer" | "boolean" | "choice" | "choices";
  isRequired: boolean;
  /** The values of a choice, with their labels. */
  options: readonly { value: string; title: string }[];
  default?: unknown;
}

/** A question of a server to the user. `server` is its name in the user's settings. */
export type Elicitation =
  | {
    mode: "form";
    server: string;
    message: string;
    fields: readonly FormField[];
    /** The form as the server sent it, for frontends that show such forms themselves. */
    schema: Readonly<Record<string, unknown>>;
    /** True if the form seems to ask for a secret, such as a password. Forms must not do so. */
    isForSecret: boolean;
  }
  | { mode: "url"; server: string; message: string; url: string };

export type ElicitationAnswer =
  | { action: "accept"; content?: Readonly<Record<string, unknown>> }
  | { action: "decline" | "cancel" };

/** Asks the user; undefined if there is no user to ask. */
export type Elicit = (question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

const MAX_FIELDS = 30;
const MAX_QUESTION = 2000;

const words = (value: unknown, max = MAX_QUESTION): string =>
  typeof value === "string" ? value.slice(0, max).toWellFormed() : "";

/** Reads a question. @throws {RpcError} if it cannot be asked. */
export function elicitationOf(server: string, params: RpcParams): Elicitation {
  const message = words(params.message);
  if (params.mode === "url") {
    const url = typeof params.url === "string" ? URL.parse(params.url) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw wrong("its url is not a web address");
    }
    return { mode: "url", server, message, url: url.href };
  }
  const schema = isObject(params.requestedSchema) ? params.requestedSchema : {};
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS) throw wrong(`its form has over ${MAX_FIELDS} fields`);
  const fields = entries.map(([name, field]) => fieldOf(name, field, required.includes(name)));
  const isForSecret = [message, ...fields.flatMap(fieldWords)].some((text) =>
    SECRET_WORDS.test(text)
  );
  return { mode: "form", server, message, fields, schema, isForSecret };
}

const fieldWords = ({ name, title, description = "" }: FormField) => [name, title, description];

/** Words for secrets that should not be typed into a form. */
const SECRET_WORDS =
  /pass[ _-]?(?:word|phrase|code)|passwd|secret|(?<![a-z])token(?![a-z])|credential|(?:api|private|access|ssh|recovery|seed)[ _-]?(?:key|phrase)|\b(?:pin|cvv|cvc|ssn|iban|otp)\b|credit[ _-]?card|card[ _-]?number/i;

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
  const titled = [source.oneOf, source.anyOf].find(Array.isArray) as unknown[] | undefined;
  if (titled) {
    return titled.filter(isObject).filter(({ const: value }) => typeof value === "string")
      .map(({ const: value, title }) => ({
        value: value as string,
        title: words(title, 200) || value as string,
      }));
  }
  if (!Array.isArray(source.enum)) return [];
  const titles = Array.isArray(names) ? names : [];
  return source.enum.flatMap((value, i) =>
    typeof value === "string" ? [{ value, title: words(titles[i], 200) || value }] : []
  );
}

/**
 * Converts typed text to the value of a field, which the server validates further. @throws {RangeError} with the
 * expected value.
 */
export function fieldValue(field: FormField, text: string): unknown {
  const given = text.trim();
  if (given === "" && field.default !== undefined) return field.default;
  if (given === "" && !field.isRequired) return undefined;
  const value = parsed(field, given);
  const problem = problemWith(field, value);
  if (problem !== undefined) throw new RangeError(`${field.title} must be ${problem}`);
  return value;
}

function parsed(field: FormField, text: string): unknown {
  switch (field.type) {
    case "boolean":
      return /^(y|yes|true)$/i.test(text) ? true : /^(n|no|false)$/i.test(text) ? false : text;
    case "number":
    case "integer":
      return text === "" ? text : Number(text);
    case "choice":
      return choiceOf(field, text);
    case "choices":
      return text.split(",").map((one) => choiceOf(field, one.trim()));
    default:
      return text;
  }
}

/** Finds a choice by its value, its label or its number, counted from 1. */
function choiceOf({ options }: FormField, text: string): string {
  const same = (one: string) => one.toLowerCase() === text.toLowerCase();
  const found = options.find(({ value }) => value === text) ??
    options.find(({ value, title }) => same(value) || same(title)) ??
    (/^\d+$/.test(text) ? options[Number(text) - 1] : undefined);
  return found?.value ?? text;
}

/** Returns what a valid value of a field would be; undefined if the value is valid. */
function problemWith({ type, options }: FormField, value: unknown): string | undefined {
  const isOption = (one: unknown) => options.some((option) => option.value === one);
  const titles = options.map(({ title }) => title).join(", ");
  const [isIt, phrase] = {
    boolean: [typeof value === "boolean", "yes or no"],
    number: [Number.isFinite(value), "a number"],
    integer: [Number.isSafeInteger(value), "an integer"],
    choice: [isOption(value), `one of ${titles}`],
    choices: [Array.isArray(value) && value.every(isOption), `some of ${titles}`],
    string: [typeof value === "string", "text"],
  }[type] as [boolean, string];
  return isIt ? undefined : phrase;
}

/** Returns the answer to a form from its defaults; a cancellation if a required field has no valid default. */
export function answerByDefaults(question: Elicitation): ElicitationAnswer {
  if (question.mode !== "form") return { action: "cancel" };
  const content: Record<string, unknown> = {};
  for (const field of question.fields) {
    const isGiven = field.default !== undefined && problemWith(field, field.default) === undefined;
    if (isGiven) content[field.name] = field.default;
    else if (field.isRequired) return { action: "cancel" };
  }
  return { action: "accept", content };
}
