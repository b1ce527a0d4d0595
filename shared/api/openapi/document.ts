import type { Operation } from "../routes.ts";
import type { JsonSchema } from "./components.ts";

/*
 * The parts of the OpenAPI document.
 */

interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface Example {
  readonly summary: string;
  readonly description?: string;
  readonly value: unknown;
}

export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

export interface Parameter extends Header {
  readonly name: string;
  readonly in: "header" | "path" | "query";
  readonly required: boolean;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface Body {
  readonly required: boolean;
  readonly content: Content;
}

export interface OperationResponse {
  /** A response that several operations share. The description is that of this operation. */
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}

/** A sample of an operation, which the documentation shows. */
export interface Sample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

export interface DocumentedOperation {
  readonly operationId: Operation;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, OperationResponse>>;
}

export interface PlacedOperation extends DocumentedOperation {
  readonly method: string;
  readonly path: string;
}

/** Returns the operations of a document with their methods and paths, in its order. */
export function operationsOf({
  paths,
}: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({ ...each, method: method.toUpperCase(), path })),
  );
}
