import type { JsonSchema } from "../../../shared/api/openapi/components.ts";

/*
 * The fields of a JSON Schema as a Markdown list.
 */

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Fields of objects in objects are listed up to this depth. */
const maxDepth = 4;

/** Returns the fields of an object as a list, with those of inner objects in lists of their own. */
export function fieldList(schema: JsonSchema, schemas: Schemas, depth = 0): string {
  const { properties = {}, required = [] } = innerObject(schema, schemas) ?? {};
  return Object.entries(properties)
    .flatMap(([name, field]) => {
      if (typeof field === "boolean") return [];
      const inner = depth < maxDepth ? fieldList(field, schemas, depth + 1) : "";
      return [
        fieldItem(name, field, required.includes(name), schemas),
        ...(inner === "" ? [] : [indented(inner)]),
      ];
    })
    .join("\n");
}

/** Returns an item of a list: name, type, limits and description. */
export function fieldItem(name: string, field: JsonSchema, isRequired: boolean, schemas: Schemas): string {
  const resolved = { ...resolve(field, schemas), ...field };
  const facts = [typeOf(field, schemas), ...(isRequired ? ["required"] : []), ...limitsOf(resolved)];
  const description = (resolved.description ?? "").trim();
  return `- **\`${name}\`** ${facts.join(" · ")}${description === "" ? "" : `  \n  ${indented(markdownText(description))}`}`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ").replace(/^ {2}(?=[^-\s])/, "");
}

/** Escapes angle brackets, which Markdown reads as HTML. */
export function markdownText(text: string): string {
  return text.replaceAll("<", "\\<");
}

function resolve(schema: JsonSchema, schemas: Schemas): JsonSchema {
  if (schema.$ref === undefined) return schema;
  return schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {};
}

/** Returns the object in a schema: itself, the elements of its list, or the object among its alternatives. */
function innerObject(schema: JsonSchema, schemas: Schemas): JsonSchema | undefined {
  const resolved = resolve(schema, schemas);
  if (resolved.properties !== undefined) return resolved;
  const { items, anyOf, oneOf, allOf } = resolved;
  const inner = [items, ...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])].flat();
  for (const each of inner) {
    const found = typeof each === "object" ? innerObject(each, schemas) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function typeOf(schema: JsonSchema, schemas: Schemas): string {
  const { type, enum: values, const: only, anyOf, oneOf, items, format } = resolve(schema, schemas);
  if (only !== undefined) return `always \`${String(only)}\``;
  if (values !== undefined) return `one of ${values.map((value) => `\`${String(value)}\``).join(", ")}`;
  const alternatives = anyOf ?? oneOf;
  if (alternatives !== undefined) {
    const types = alternatives.map((each) => (typeof each === "object" ? typeOf(each, schemas) : "any"));
    return [...new Set(types)].join(" or ");
  }
  if (type === "array" && typeof items === "object" && !Array.isArray(items)) {
    return `list of ${typeOf(items, schemas)}`;
  }
  const named = Array.isArray(type) ? type.join(" or ") : (type ?? "any");
  return format === undefined || format === "double" ? named : `${named} (${format})`;
}

/** Returns the limits of a value, in words. Patterns that are too long to read are left out. */
function limitsOf(schema: JsonSchema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default: standard } = schema;
  const id = /^\^([a-z]{2,3}_)\[/.exec(pattern ?? "")?.[1];
  const shortPattern = id === undefined && pattern !== undefined && pattern.length < 40;
  return [
    ...range(minimum, maximum, ""),
    ...range(minLength, maxLength, " characters"),
    ...range(minItems, maxItems, " entries"),
    ...(id === undefined ? [] : [`\`${id}…\``]),
    ...(shortPattern && schema.format === undefined ? [`\`${pattern}\``] : []),
    ...(standard === undefined ? [] : [`default \`${JSON.stringify(standard)}\``]),
  ];
}

function range(from: number | undefined, to: number | undefined, unit: string): string[] {
  const [least, most] = [from, to].map((each) => each?.toLocaleString("en-US"));
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (most !== undefined) return [`at most ${most}${unit}`];
  return least === undefined || from === 0 ? [] : [`at least ${least}${unit}`];
}
