/** Holds values against a JSON Schema (2020-12), as far as the schemas of protocols use it. */

type Json = Record<string, unknown>;

export class SchemaChecker {
  readonly #definitions: Record<string, Json>;

  constructor(schema: { $defs: Record<string, Json> }) {
    this.#definitions = schema.$defs;
  }

  /** The first objection to a value of the definition, with its place; undefined for none. */
  check(value: unknown, definition: string): string | undefined {
    const schema = this.#definitions[definition];
    return schema === undefined ? `there is no ${definition}` : this.#why(value, schema, "");
  }

  #why(value: unknown, schema: Json, at: string): string | undefined {
    const { $ref, allOf = [], anyOf, oneOf, not } = schema as {
      $ref?: string;
      allOf?: Json[];
      anyOf?: Json[];
      oneOf?: Json[];
      not?: Json;
    };
    const referred = $ref === undefined ? [] : [this.#definitions[$ref.split("/").at(-1)!]!];
    for (const one of [...referred, ...allOf]) {
      const why = this.#why(value, one, at);
      if (why !== undefined) return why;
    }
    for (const some of [anyOf, oneOf]) {
      if (some === undefined) continue;
      const whys = some.map((one) => this.#why(value, one, at));
      if (!whys.includes(undefined)) {
        return `${at || "it"} is none of: ${[...new Set(whys)].join(" | ")}`;
      }
    }
    if (not !== undefined && this.#why(value, not, at) === undefined) {
      return `${at} is what it must not be`;
    }
    return objection(value, schema, at) ?? this.#whyInside(value, schema, at);
  }

  #whyInside(value: unknown, schema: Json, at: string): string | undefined {
    if (Array.isArray(value)) {
      if (schema.items === undefined) return undefined;
      for (const [i, one] of value.entries()) {
        const why = this.#why(one, schema.items as Json, `${at}[${i}]`);
        if (why !== undefined) return why;
      }
      return undefined;
    }
    if (typeof value !== "object" || value === null) return undefined;
    const fields = value as Json;
    for (const name of (schema.required ?? []) as string[]) {
      if (!(name in fields)) return `${at}.${name} is missing`;
    }
    const properties = (schema.properties ?? {}) as Record<string, Json | boolean>;
    for (const [name, one] of Object.entries(fields)) {
      const property = Object.hasOwn(properties, name)
        ? properties[name]
        : schema.additionalProperties;
      if (property === false) return `${at}.${name} is not in the schema`;
      const why = typeof property === "object" && property !== null
        ? this.#why(one, property as Json, `${at}.${name}`)
        : undefined;
      if (why !== undefined) return why;
    }
    return undefined;
  }
}

/** The objection to a value by itself: its type, its range, the values that it may be. */
function objection(value: unknown, schema: Json, at: string): string | undefined {
  const types = schema.type === undefined ? [] : [schema.type].flat() as string[];
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    return `${at || "it"} is no ${types.join(" or ")}`;
  }
  const allowed = (schema.enum ?? ("const" in schema ? [schema.const] : undefined)) as
    | unknown[]
    | undefined;
  if (allowed !== undefined && !allowed.includes(value)) {
    return `${at} is not ${JSON.stringify(allowed)}`;
  }
  if (typeof value === "number") {
    const { minimum = -Infinity, maximum = Infinity } = schema as Record<string, number>;
    if (value < minimum || value > maximum) return `${at} is out of range`;
  }
  const { minLength = 0 } = schema as Record<string, number>;
  return typeof value === "string" && value.length < minLength ? `${at} is too short` : undefined;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    default:
      return false;
  }
}
