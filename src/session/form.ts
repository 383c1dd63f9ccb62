/** Forms that a program of an extension asks the user to fill in. @module */

export interface FormField {
  name: string;
  title: string;
  description?: string;
  type: "string" | "number" | "integer" | "boolean" | "choice" | "choices";
  isRequired: boolean;
  options: readonly { value: string; title: string }[];
  default?: unknown;
}

/** A form to fill in, or an address to open. `server` is the name of the program that asks. */
export type Elicitation =
  | { mode: "form"; server: string; message: string; fields: readonly FormField[] }
  | { mode: "url"; server: string; message: string; url: string };

export type ElicitationAnswer =
  | { action: "accept"; content?: Readonly<Record<string, unknown>> }
  | { action: "decline" | "cancel" };

export type Elicit = (question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

/** Returns the value of a field from typed text. @throws {RangeError} with the expected value. */
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

function choiceOf({ options }: FormField, text: string): string {
  const same = (one: string) => one.toLowerCase() === text.toLowerCase();
  const found = options.find(({ value }) => value === text) ??
    options.find(({ value, title }) => same(value) || same(title)) ??
    (/^\d+$/.test(text) ? options[Number(text) - 1] : undefined);
  return found?.value ?? text;
}

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
