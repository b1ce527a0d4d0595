import { documentConversions } from "./document.ts";
import type { Schema } from "./wire.ts";

/** The parts of an SDK command that are necessary to send it. */
export interface CommandParts {
  /** For example `GetItem`. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly input: object;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  /** Converts the response to the output of the command. */
  readonly finish: (output: object) => object;
}

/** How the SDK describes an operation: `[9, namespace, name, traits, input, output]`. */
type Operation = readonly [
  kind: 9,
  namespace: string,
  name: string,
  traits: unknown,
  input: Schema,
  output: Schema,
];

/** @throws Error for a command that does not belong to the SDK */
export function commandParts(command: { readonly input: object }): CommandParts {
  const document = documentConversions(command);
  const schema: unknown = Reflect.get(document?.clientCommand ?? command, "schema");
  if (!isOperation(schema)) throw new Error("the command does not name its operation");
  const [, , operation, traits, inputSchema, outputSchema] = schema;
  return {
    operation,
    ...placeOf(traits),
    input: document === undefined ? command.input : document.toAttributes(command.input),
    inputSchema,
    outputSchema,
    finish: document === undefined ? (output) => output : document.fromAttributes,
  };
}

function isOperation(schema: unknown): schema is Operation {
  return Array.isArray(schema) && schema[0] === 9;
}

function placeOf(traits: unknown): Pick<CommandParts, "method" | "path"> {
  const [method = "POST", path = "/"] = Object(Object(traits).http ?? []);
  return { method, path };
}
