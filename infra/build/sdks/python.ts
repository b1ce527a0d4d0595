import type { JsonSchema } from "../../../shared/api/openapi/components.ts";
import type { Parameter } from "../../../shared/api/openapi/document.ts";
import { pythonName } from "../../../shared/api/openapi/samples.ts";
import { capitalized, type SdkContract, type SdkOperation } from "./operations.ts";
import { pythonType, pythonTypes, resolve } from "./python-types.ts";

/*
 * The generated files of the Python SDK. The handwritten ones are in `shared/api/client/python/`.
 */

/** Returns the generated files by name: the types, and both clients with a method for each operation. */
export function pythonFiles(contract: SdkContract, version: string): Record<string, string> {
  return {
    "_version.py": `__version__ = "${version}"\n`,
    "types.py": pythonTypes(contract.schemas),
    "_async_client.py": clientModule(contract),
    "_client.py": synchronous(clientModule(contract)),
  };
}

/** Returns the synchronous form of a module with `async` and `await`. */
export function synchronous(source: string): string {
  return source
    .replaceAll(/\b(async|await) /g, "")
    .replaceAll("import asyncio", "import time")
    .replaceAll("asyncio.sleep", "time.sleep")
    .replaceAll("Callable[[float], Awaitable[None]]", "Callable[[float], None]")
    .replaceAll("Awaitable, ", "")
    .replaceAll("AsyncIterator", "Iterator")
    .replaceAll("httpx.AsyncClient", "httpx.Client")
    .replaceAll("_async", "_sync")
    .replaceAll("AsyncCaller", "SyncCaller")
    .replaceAll("AsyncClient", "Client")
    .replaceAll("AsyncRows", "Rows")
    .replaceAll("aclose", "close")
    .replaceAll(/__a(enter|exit|iter)__/g, "__$1__");
}

function clientModule({ operations, schemas }: SdkContract): string {
  return [
    "from __future__ import annotations\n",
    "from datetime import datetime",
    "from typing import Any, Dict, List, Literal, Optional, Union\n",
    "from . import types",
    "from ._async import AsyncCaller, AsyncRows",
    "from ._calls import UNSET, Unset, call, given\n",
    "",
    "class AsyncClient(AsyncCaller):",
    '    """A client with one method for each operation of the API."""\n',
    operations.map((operation) => method(operation, schemas)).join("\n"),
  ].join("\n");
}

interface Argument {
  readonly key: string;
  readonly name: string;
  readonly declaration: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
}

function method(operation: SdkOperation, schemas: SdkContract["schemas"]): string {
  const { endpoint, name, params, query, body, result, summary } = operation;
  const positional = params.map(argumentOf);
  const queried = query.map(argumentOf);
  const fields = body === undefined ? [] : fieldsOf(body.schema, schemas);
  const named = [...fields, ...queried].toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
  const keywords = [
    ...named.map(({ declaration }) => declaration),
    ...(endpoint.idempotent === true ? ["idempotency_key: Optional[str] = None"] : []),
  ];
  const signature = [
    "self",
    ...positional.map(({ declaration }) => declaration),
    ...(keywords.length > 0 ? ["*", ...keywords] : []),
  ];
  const row = pythonType(result, inTypes);
  const bodyFields = `given(${dictionary(fields.filter((each) => !each.isNullable))}${nullable(fields)})`;
  const sent = [
    `"${endpoint.method}"`,
    `"${endpoint.path.replaceAll(/\{(\w+)\}/g, "{$1}")}"`,
    ...(positional.length > 0 ? [`params=${dictionary(positional)}`] : []),
    ...(queried.length > 0 ? [`query=${dictionary(queried)}`] : []),
    ...(body === undefined ? [] : [`body=${bodyFields}${body.required ? "" : " or None"}`]),
    ...(endpoint.idempotent === true ? ["idempotency_key=idempotency_key", "is_idempotent=True"] : []),
    ...(endpoint.auth === "none" ? ["has_credential=False"] : []),
    ...(endpoint.paged === true ? ["is_paged=True"] : []),
  ].join(", ");
  const documented = [
    `        """${escaped(summary)}.\n`,
    `        \`${endpoint.method} ${endpoint.path}\``,
    ...[...positional, ...named]
      .filter(({ description }) => description !== undefined)
      .map(
        ({ name: each, description = "" }, index) =>
          `${index === 0 ? "\n" : ""}        :param ${each}: ${escaped(description)}`,
      ),
    '        """',
  ];
  const isPaged = endpoint.paged === true;
  const head = `${isPaged ? "def" : "async def"} ${pythonName(name)}(${signature.join(", ")})`;
  return [
    `    ${head} -> ${isPaged ? `AsyncRows[${row}]` : row}:`,
    ...documented,
    ...(isPaged
      ? [`        return AsyncRows(self, call(${sent}))`]
      : [`        result: ${row} = await self._send(call(${sent}))`, "        return result"]),
    "",
  ].join("\n");
}

function argumentOf({ name, required, schema, description }: Parameter): Argument {
  return argument(name, schema, required, description);
}

function fieldsOf(schema: JsonSchema, schemas: SdkContract["schemas"]): Argument[] {
  const { name, properties = {}, required = [] } = resolve(schema, schemas);
  return Object.entries(properties).map(([key, property]) => {
    if (typeof property === "boolean") throw new Error(`the field ${key} of ${name} has no schema`);
    return argument(key, property, required.includes(key), property.description, name);
  });
}

function argument(
  key: string,
  schema: JsonSchema,
  isRequired: boolean,
  description: string | undefined,
  owner = "",
): Argument {
  const name = pythonName(key);
  const text = pythonType(schema, inTypes, owner + capitalized(key));
  const type = schema.format === "date-time" ? `Union[${text}, datetime]` : text;
  const isNullable =
    !isRequired && (schema.anyOf ?? []).some((each) => typeof each === "object" && each.type === "null");
  const optional = isNullable ? `Union[${type}, Unset] = UNSET` : `Optional[${type}] = None`;
  return {
    key,
    name,
    declaration: `${name}: ${isRequired ? type : optional}`,
    description,
    isRequired,
    isNullable,
  };
}

function inTypes(name: string): string {
  return `types.${name}`;
}

function dictionary(fields: readonly Argument[]): string {
  return `{${fields.map(({ key, name }) => `"${key}": ${name}`).join(", ")}}`;
}

function nullable(fields: readonly Argument[]): string {
  const chosen = fields.filter(({ isNullable }) => isNullable);
  return chosen.length > 0 ? `, ${dictionary(chosen)}` : "";
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"""', "'''");
}
