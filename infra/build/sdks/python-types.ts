import type { JsonSchema } from "../../../shared/api/openapi/components.ts";
import { capitalized, nameOf } from "./operations.ts";

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Prints the types of the Python SDK: a `TypedDict` for each object, and an alias for each other schema. */
export function pythonTypes(schemas: Schemas): string {
  const declarations = Object.entries(withNestedObjects(schemas)).map(([name, schema]) =>
    declarationOf(name, schema),
  );
  return [
    '"""The objects of the API, generated from its OpenAPI document."""\n',
    "from __future__ import annotations\n",
    "from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict, Union\n",
    "if TYPE_CHECKING:",
    "    from typing_extensions import NotRequired\n",
    "",
    declarations.join("\n\n"),
  ].join("\n");
}

/** Returns a schema with its name, if it is a reference. */
export function resolve(schema: JsonSchema, schemas: Schemas): JsonSchema & { readonly name: string } {
  const name = nameOf(schema.$ref ?? "");
  return { ...schema, ...schemas[name], name };
}

/**
 * Returns the expression of a schema's type.
 * @param refer returns the expression of a named type
 * @param name the name of the schema, if it is an object without one of its own
 */
export function pythonType(
  schema: boolean | JsonSchema | undefined,
  refer: (name: string) => string,
  name = "",
): string {
  if (typeof schema !== "object") return "Any";
  if (schema.$ref !== undefined) return refer(nameOf(schema.$ref));
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(", ")}]`;
  if (schema.properties !== undefined) {
    if (name === "") throw new Error("an object has no name");
    return refer(name);
  }
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return `Union[${union.map((each) => pythonType(each, refer, name)).join(", ")}]`;
  if (schema.type === "array") {
    const { items } = schema;
    return `List[${pythonType(Array.isArray(items) ? undefined : items, refer, name)}]`;
  }
  if (schema.type === "object") return `Dict[str, ${pythonType(schema.additionalProperties, refer)}]`;
  return primitives[String(schema.type)] ?? "Any";
}

const primitives: Readonly<Record<string, string>> = {
  boolean: "bool",
  integer: "int",
  null: "None",
  number: "float",
  string: "str",
};

/** Adds the objects without a name that are parts of others, under the names of both. */
function withNestedObjects(schemas: Schemas): Schemas {
  const all: Record<string, JsonSchema> = {};
  const add = (name: string, schema: boolean | JsonSchema | undefined): void => {
    if (typeof schema !== "object") return;
    if (schema.properties !== undefined) all[name] = schema;
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      add(name + capitalized(key), property);
    }
    for (const part of [schema.items, ...(schema.anyOf ?? [])]) if (!Array.isArray(part)) add(name, part);
  };
  for (const [name, schema] of Object.entries(schemas)) {
    all[name] = schema;
    add(name, schema);
  }
  return all;
}

function declarationOf(name: string, schema: JsonSchema): string {
  const { description, properties, required = [] } = schema;
  if (properties === undefined) {
    return `#: ${description ?? name}\n${name} = ${pythonType(schema, (each) => `"${each}"`)}\n`;
  }
  const fields = Object.entries(properties).map(([key, property]) => {
    const type = pythonType(property, (each) => each, name + capitalized(key));
    return {
      key,
      type: required.includes(key) ? type : `NotRequired[${type}]`,
      description: typeof property === "object" ? property.description : undefined,
    };
  });
  if (fields.some(({ key }) => key === "from")) {
    const entries = fields.map(({ key, type }) => `    ${literal(key)}: ${literal(type)},\n`);
    return `${name} = TypedDict(\n    "${name}",\n    {\n${entries.join("")}    },\n)\n`;
  }
  const lines = fields.map(
    (field) =>
      `${field.description === undefined ? "" : `    #: ${field.description.replaceAll("\n", " ")}\n`}    ${field.key}: ${field.type}\n`,
  );
  const documented = description === undefined ? "" : `    """${description.replaceAll("\\", "\\\\")}"""\n\n`;
  return `class ${name}(TypedDict):\n${documented}${lines.join("") || "    pass\n"}`;
}

function literal(value: unknown): string {
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}
