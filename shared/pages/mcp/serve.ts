import { ApiError } from "../../api/contract/errors.ts";
import type { Scope } from "../../api/contract/scopes.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";

const maxBodyKilobytes = 64;
/** The most messages of a request, whose calls run in parallel. */
const maxCalls = 10;

/** A request to the MCP server, whose credential was checked. */
export interface McpRequest {
  readonly scopes: readonly Scope[];
  /** Whether the caller has a test key. */
  readonly isTest: boolean;
  /** The groups of tools that the caller requested; undefined for all. */
  readonly groups: readonly string[] | undefined;
  /** Whether the caller requested tools that change something. */
  readonly offersChanges: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/**
 * Responds to a message of the Model Context Protocol. The server is loaded with the first request whose credential is
 * accepted.
 * @throws ApiError PAYLOAD_TOO_LARGE
 */
export async function serveMcp(request: McpRequest): Promise<RawResponse> {
  if (Buffer.byteLength(request.body) > maxBodyKilobytes * 1024) throw new ApiError("PAYLOAD_TOO_LARGE");
  if (callsIn(request.body) > maxCalls) {
    throw new ApiError("PAYLOAD_TOO_LARGE", { message: `A request has at most ${maxCalls} calls.` });
  }
  const { respond } = await import("./server.ts");
  return respond(request);
}

/** Returns how many calls a list of messages has. The server rejects what is not JSON. */
function callsIn(body: string): number {
  try {
    const parsed: unknown = JSON.parse(body);
    return Array.isArray(parsed) ? parsed.length : 1;
  } catch {
    return 1;
  }
}
