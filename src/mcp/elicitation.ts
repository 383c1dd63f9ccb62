/** What a server asks a person for: a flat form, or to open an address. @module */

import { invalidParams, type RpcParams } from "../rpc/message.ts";
import { isObject } from "../text/json.ts";

/** One field of a form. */
export interface FormField {
  name: string;
  /** The words for it; the name where the server has none. */
  title: string;
  description?: string;
  type: "string" | "number" | "integer" | "boolean" | "choice" | "choices";
  isRequired: boolean;
  /** The values of a choice, with their words. */
  options: readonly { value: string; title: string }[];
  default?: unknown;
  /** The format of a string, such as `email`. */
  format?: string;
  /** The limits of a number, or of the length of a string or list. */
  min?: number;
  max?: number;
}

/** A question of a server to the person. `server` is the name in the person's own settings. */
export type Elicitation =
  | {
    mode: "form";
    server: string;
    message: string;
    fields: readonly FormField[];
    /** True where it seems to ask for a password, a key or the like, which a form must not. */
    isForSecret: boolean;
  }
  | { mode: "url"; server: string; message: string; url: string };

export type ElicitationAnswer =
  | { action: "accept"; content?: Readonly<Record<string, unknown>> }
  | { action: "decline" | "cancel" };

/** Asks the person; undefined for nobody who could answer. */
export type Elicit = (question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

const MAX_FIELDS = 30;
const MAX_QUESTION = 2000;

const words = (value: unknown, max = MAX_QUESTION): string =>
  typeof value === "string" ? value.slice(0, max).toWellFormed() : "";

/** Reads a question. @throws {RpcError} for one that cannot be asked. */
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
  return { mode: "form", server, message, fields, isForSecret };
}

const fieldWords = ({ name, title, description = "" }: FormField) => [name, title, description];

/** Words for what nobody should type into a form. */
const SECRET_WORDS =
  /pass[ _-]?(?:word|phrase|code)|passwd|secret|(?<![a-z])token(?![a-z])|credential|(?:api|private|access|ssh|recovery|seed)[ _-]?(?:key|phrase)|\b(?:pin|cvv|cvc|ssn|iban|otp)\b|credit[ _-]?card|card[ _-]?number/i;

const wrong = (why: string) => invalidParams(`Cannot ask as ${why}`);

function fieldOf(name: string, given: unknown, isRequired: boolean): FormField {
  if (!isObject(given)) throw wrong(`the field ${name} is not an object`);
  const isList = given.type === "array";
  const source = isList && isObject(given.items) ? given.items : given;
  const options = optionsOf(source, given.enumNames);
  const type = typeOf(given.type, isList, options.length > 0);
  if (type === undefined) throw wrong(`the field ${name} is of a type that no form has`);
  const [min, max] = [
    given.minimum ?? given.minLength ?? given.minItems,
    given.maximum ?? given.maxLength ?? given.maxItems,
  ];
  return {
    name,
    title: words(given.title, 200) || name,
    ...given.description !== undefined && { description: words(given.description, 500) },
    type,
    isRequired,
    options,
    ...given.default !== undefined && { default: given.default },
    ...typeof given.format === "string" && { format: given.format },
    ...typeof min === "number" && { min },
    ...typeof max === "number" && { max },
  };
}

function typeOf(given: unknown, isList: boolean, isChoice: boolean): FormField["type"] | undefined {
  if (isList) return isChoice ? "choices" : undefined;
  if (isChoice) return "choice";
  const types = ["string", "number", "integer", "boolean"] as const;
  return types.find((one) => one === given);
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

/** The value of a field that `text` stands for. @throws {RangeError} with what it must be. */
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
      return /^(y|yes|true|on|1)$/i.test(text)
        ? true
        : /^(n|no|false|off|0)$/i.test(text)
        ? false
        : text;
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

/** A choice by its value, its words or its number from 1. */
function choiceOf({ options }: FormField, text: string): string {
  const same = (one: string) => one.toLowerCase() === text.toLowerCase();
  const found = options.find(({ value }) => value === text) ??
    options.find(({ value, title }) => same(value) || same(title)) ??
    (/^\d+$/.test(text) ? options[Number(text) - 1] : undefined);
  return found?.value ?? text;
}

const FIELD_FORMATS: Readonly<Record<string, [RegExp, string]>> = {
  email: [/^[^\s@]+@[^\s@]+$/, "an e-mail address"],
  uri: [/^[a-z][a-z\d+.-]*:\S+$/i, "an address with its scheme"],
  date: [/^\d{4}-\d\d-\d\d$/, "a date as 2026-01-31"],
  "date-time": [/^\d{4}-\d\d-\d\dT\d\d:\d\d/, "a time as 2026-01-31T12:00:00Z"],
};

/** What the value of a field must be; undefined where it is that. */
function problemWith(field: FormField, value: unknown): string | undefined {
  const { type, options, min = -Infinity, max = Infinity } = field;
  const within = (size: number) => size >= min && size <= max;
  const isOption = (one: unknown) => options.some((option) => option.value === one);
  const limits = min > -Infinity || max < Infinity
    ? `, ${
      [min > -Infinity ? `at least ${min}` : "", max < Infinity ? `at most ${max}` : ""].filter(
        Boolean,
      ).join(" and ")
    }`
    : "";
  switch (type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "yes or no";
    case "number":
    case "integer": {
      const isIt = type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
      return isIt && within(value as number)
        ? undefined
        : `a${type === "integer" ? "n integer" : " number"}${limits}`;
    }
    case "choice":
      return isOption(value) ? undefined : `one of ${options.map(({ title }) => title).join(", ")}`;
    case "choices":
      return Array.isArray(value) && value.every(isOption) && within(value.length)
        ? undefined
        : `some of ${options.map(({ title }) => title).join(", ")}${limits}`;
    default: {
      if (typeof value !== "string" || !within(value.length)) {
        return `text${limits && `${limits} characters`}`;
      }
      const [pattern, phrase] = FIELD_FORMATS[field.format ?? ""] ?? [];
      return pattern && !pattern.test(value) ? phrase : undefined;
    }
  }
}

/** The answer to a form by its defaults alone; cancelled where a required field has none that fits. */
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
