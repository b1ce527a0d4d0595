import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { inject } from "vitest";
import * as z from "zod/mini";

const ToolResult = z.object({
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
  structuredContent: z.optional(z.unknown()),
  isError: z._default(z.boolean(), false),
});

/** An agent that uses the gateway over MCP. */
export class Agent {
  readonly #client = new Client({ name: "agent", version: "1" });

  /** Connects with a credential. @param tools the tools that the server should offer */
  static async connect(credential: string, tools?: "all" | "read", groups?: string): Promise<Agent> {
    const agent = new Agent();
    const search = `?tools=${tools ?? "read"}${groups === undefined ? "" : `&groups=${groups}`}`;
    const transport = new StreamableHTTPClientTransport(new URL(`${inject("baseUrl")}/mcp${search}`), {
      requestInit: { headers: { Authorization: `Bearer ${credential}` } },
    });
    await agent.#client.connect(transport);
    return agent;
  }

  async toolNames(): Promise<string[]> {
    const { tools } = await this.#client.listTools();
    return tools.map(({ name }) => name);
  }

  async listTools(): ReturnType<Client["listTools"]> {
    return this.#client.listTools();
  }

  /** Calls a tool. Returns the text of its error, or the parsed body of its response. */
  async call(
    name: string,
    values: Record<string, unknown> = {},
  ): Promise<{ error?: string; body?: unknown; structured?: unknown; note?: string | undefined }> {
    const result = ToolResult.parse(await this.#client.callTool({ name, arguments: values }));
    const [{ text }, note] = z
      .tuple([z.object({ text: z.string() })], z.object({ text: z.string() }))
      .parse(result.content);
    if (result.isError) return { error: text };
    return { body: JSON.parse(text), structured: result.structuredContent, note: note?.text };
  }
}
