import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { inject } from "vitest";
import * as z from "zod/mini";

const ToolResult = z.object({
  content: z.tuple([z.object({ type: z.literal("text"), text: z.string() })]),
  isError: z._default(z.boolean(), false),
});

/** An agent that uses the gateway over MCP. */
export class Agent {
  readonly #client = new Client({ name: "agent", version: "1" });

  /** Connects with a credential. @param tools the tools that the server should offer */
  static async connect(credential: string, tools?: "all" | "read"): Promise<Agent> {
    const agent = new Agent();
    const search = tools === undefined ? "" : `?tools=${tools}`;
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
  ): Promise<{ error?: string; body?: unknown }> {
    const result = ToolResult.parse(await this.#client.callTool({ name, arguments: values }));
    const [{ text }] = result.content;
    return result.isError ? { error: text } : { body: JSON.parse(text) };
  }
}
