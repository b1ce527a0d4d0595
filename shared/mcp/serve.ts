import { ApiError } from "../contract/errors.ts";
import type { Scope } from "../contract/scopes.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";

const maxBodyKilobytes = 64;

/** A request to the MCP server, whose credential was checked. */
export interface McpRequest {
  readonly scopes: readonly Scope[];
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
  const { respond } = await import("./server.ts");
  return respond(request);
}
