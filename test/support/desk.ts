import { request } from "node:http";
import { text } from "node:stream/consumers";

import { onTestFinished } from "vitest";
import * as z from "zod/mini";

import { commands } from "../../infra/operator/command-line.ts";
import { connect } from "../../infra/operator/context.ts";
import type { DeskOptions } from "../../infra/operator/desk/runs.ts";
import { startDesk } from "../../infra/operator/desk/server.ts";

/** A desk of the gateway of the present file, without a process for it. It ends with the test. */
export async function deskOf(options: Partial<DeskOptions> = {}): Promise<string> {
  const { link, server } = await startDesk({
    commands,
    stage: undefined,
    connection: await connect(undefined),
    identity: "local operator",
    files: new Map(),
    ...options,
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return link;
}

const Answer = z.looseObject({
  state: z.optional(z.string()),
  problem: z.optional(z.string()),
  question: z.optional(z.string()),
  typed: z.optional(z.string()),
  ticket: z.optional(z.string()),
  output: z.optional(z.array(z.looseObject({ kind: z.string(), text: z.optional(z.string()) }))),
});
type Answer = z.infer<typeof Answer>;

/** A program that calls a desk as its pages do. */
export class DeskClient {
  readonly link: URL;
  readonly token: string;
  cookie = "";

  constructor(link: string) {
    this.link = new URL(link);
    this.token = this.link.hash.replace("#token=", "");
  }

  /** Sends a request, by default from the desk's own page. */
  async send(
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: string }> {
    const { hostname, port, origin, pathname } = this.link;
    const sent = request({
      hostname,
      port,
      path: `${pathname}${path}`,
      method: body === undefined ? "GET" : "POST",
      headers: { origin, cookie: this.cookie, ...headers },
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return new Promise((resolve, reject) => {
      sent.once("error", reject);
      sent.once("response", (response) => {
        text(response).then(
          (content) =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: content }),
          reject,
        );
      });
    });
  }

  /** Begins the session. @returns the header that sets its cookie */
  async begin(token = this.token): Promise<string> {
    const { headers } = await this.send("session", { token });
    const header = z.optional(z.array(z.string())).parse(headers["set-cookie"])?.[0] ?? "";
    this.cookie = header.split(";")[0] ?? "";
    return header;
  }

  async run(command: string, input: Readonly<Record<string, unknown>>, consent?: object): Promise<Answer> {
    const { status, body } = await this.send("run", { command, input, consent });
    if (status !== 200) throw new Error(`${status}: ${body}`);
    return Answer.parse(JSON.parse(body));
  }

  /** Runs a change, and confirms its question. */
  async change(command: string, input: Readonly<Record<string, unknown>>): Promise<Answer> {
    const { ticket, typed } = await this.run(command, input);
    return this.run(command, input, { ticket, typed });
  }
}

/** A client of a new desk, in its session. */
export async function openDesk(options: Partial<DeskOptions> = {}): Promise<DeskClient> {
  const client = new DeskClient(await deskOf(options));
  await client.begin();
  return client;
}
