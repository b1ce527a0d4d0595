import { randomUUID } from "node:crypto";

import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod/mini";

import { IdempotencyKey } from "../../api/contract/primitives.ts";
import type { Tool } from "../../api/openapi/tools.ts";
import { config } from "../../platform/config.ts";
import { log } from "../../platform/log.ts";

/** Less than the time limit of the function, so that the caller receives an error. */
const timeoutMs = 12_000;

/** More text than this does not help a model. */
const maxResultCharacters = 192 * 1024;

/** The bytes that are left for the results of one request. Lambda returns 6 MB, which also has lists of tools. */
export interface ResultBudget {
  bytesLeft: number;
}

export const budgetOfRequest = (): ResultBudget => ({ bytesLeft: 5_000_000 });

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Calls the operation of a tool with the credential of the caller. An error of the API becomes the result of the tool.
 * @param authorization the header of the caller
 * @param budget of the request that the call belongs to
 */
export async function callTool(
  tool: Tool,
  { idempotencyKey, ...values }: Arguments,
  authorization: string,
  budget = budgetOfRequest(),
): Promise<CallToolResult> {
  const key = IdempotencyKey.safeParse(idempotencyKey ?? randomUUID());
  if (!key.success)
    return failure("VALIDATION_ERROR: idempotencyKey must be 1 to 255 printable ASCII characters.");
  let request: RequestParts | string;
  try {
    request = requestOf(tool, values);
  } catch {
    return failure(
      "VALIDATION_ERROR: the arguments are nested too deeply, or contain text that is not Unicode.",
    );
  }
  if (typeof request === "string") return failure(`VALIDATION_ERROR: ${request}`);
  const repeat = tool.isRepeatable ? { "Idempotency-Key": key.data } : {};
  try {
    const response = await fetch(config.apiUrl() + request.path, {
      method: tool.method,
      headers: {
        Authorization: authorization,
        ...repeat,
        ...(tool.hasBody ? { "Content-Type": "application/json" } : {}),
      },
      ...(tool.hasBody ? { body: request.body } : {}),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "error",
    });
    const text = await response.text();
    if (!response.ok) return failure(errorText(response.status, text));
    if (text.length > maxResultCharacters) return tooLarge(tool);
    const isReplay = response.headers.has("Idempotent-Replayed");
    const replay = "This is the result of an earlier call with the same idempotencyKey.";
    const result: CallToolResult = {
      content: [{ type: "text", text }, ...(isReplay ? [{ type: "text" as const, text: replay }] : [])],
      structuredContent: JSON.parse(text),
    };
    // As Lambda returns it: as JSON in a JSON string, with both copies.
    const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(result)));
    if (bytes > budget.bytesLeft) return tooLarge(tool);
    budget.bytesLeft -= bytes;
    return result;
  } catch (error) {
    log.warn("mcp.call_failed", { route: `${tool.method} ${tool.path}`, error });
    const advice = tool.isRepeatable
      ? `Repeat the call with the idempotencyKey ${key.data}: it is executed once.`
      : "Check with a tool that reads before you repeat a change.";
    return failure(`UNAVAILABLE: there was no response within ${timeoutMs / 1000} seconds. ${advice}`);
  }
}

interface RequestParts {
  /** The path with the query. */
  readonly path: string;
  readonly body: string;
}

/**
 * Returns a request, or what is wrong with an argument.
 * @throws Error about values that are nested too deeply, or text that cannot be encoded
 */
function requestOf(tool: Tool, values: Arguments): RequestParts | string {
  const path = pathOf(tool, values);
  if (path === undefined) return "an argument that names an item is missing or wrong.";
  const isOfQuery = (name: string): boolean => !tool.hasBody || tool.queryNames.includes(name);
  // Models send null for an argument that they do not use. In a body null can be a value.
  const others = Object.entries(values).filter(
    ([name, value]) => !tool.path.includes(`{${name}}`) && !(isOfQuery(name) && value === null),
  );
  const inQuery = others.filter(([name]) => isOfQuery(name));
  const wrong = inQuery.find(([, value]) => typeof value === "object");
  if (wrong !== undefined) return `${wrong[0]} must be a text, a number, or true or false.`;
  const search = new URLSearchParams(inQuery.map(([name, value]): [string, string] => [name, String(value)]));
  const body = Object.fromEntries(others.filter((each) => !inQuery.includes(each)));
  return {
    path: search.size === 0 ? path : `${path}?${search.toString()}`,
    body: JSON.stringify(body),
  };
}

/** Returns the path of a call; undefined if a value of it is missing, or would lead to another path. */
function pathOf({ path }: Tool, values: Arguments): string | undefined {
  const isWrong = [...path.matchAll(/\{(\w+)\}/g)].some(([, name = ""]) => {
    const value = values[name];
    return typeof value !== "string" || /^\.*$/.test(value);
  });
  if (isWrong) return undefined;
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

const ErrorBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.optional(z.array(z.unknown())) }),
});

/** Returns an error of the API as text: its code, its message, and the fields that it is about. */
function errorText(status: number, text: string): string {
  const parsed = ErrorBody.safeParse(parseJson(text));
  if (!parsed.success) return `UNAVAILABLE: the gateway responded with ${status}.`;
  const { code, message, details } = parsed.data.error;
  const note =
    code === "ADDRESS_NOT_ALLOWED"
      ? " A key with `allowedAddresses` cannot be used over MCP, because the calls come from the gateway."
      : "";
  return `${code}: ${message}${note}${details === undefined ? "" : ` ${JSON.stringify(details)}`}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the error for a result that does not fit. A change was made nevertheless, and must not be repeated. */
function tooLarge({ annotations }: Tool): CallToolResult {
  const done = annotations.readOnlyHint ? "" : "The change was made. ";
  return failure(
    `${done}The result is too large. Request fewer rows with \`limit\`, or make fewer calls in one request.`,
  );
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
