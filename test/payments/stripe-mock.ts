import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import * as z from "zod/mini";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { freePort, waitForPort } from "../support/ports.ts";
import { stripeMockFile } from "./install-stripe-mock.ts";

/** A request to Stripe's API, and the status of the response. */
interface Call {
  readonly request: string;
  readonly status: number;
  /** Why it was rejected. */
  readonly problem: string | undefined;
}

const Rejection = z.object({ error: z.object({ message: z.string() }) });
const Fields = z.record(z.string(), z.unknown());

/**
 * Stripe's stripe-mock. It rejects requests that Stripe's OpenAPI document does not allow. It keeps nothing: its responses
 * are examples, in which a test can set the fields that it depends on.
 */
export class StripeMock {
  readonly url: string;
  readonly calls: Call[] = [];
  /** Fields of the responses, by the method and the path of the request. */
  readonly fields: Record<string, Readonly<Record<string, unknown>>> = {};
  readonly stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url;
    this.stop = stop;
  }

  static async start(): Promise<StripeMock> {
    const port = await freePort();
    const child = spawn(stripeMockFile, ["-http-addr", `127.0.0.1:${port}`], { stdio: "ignore" });
    await waitForPort(port, 30_000);
    const server = createServer((request, response) => {
      void mock.#serve(request, response, `http://127.0.0.1:${port}`);
    });
    const mock = new StripeMock(`http://127.0.0.1:${await listenOnLoopback(server)}`, async () => {
      server.close();
      server.closeAllConnections();
      const ended = once(child, "exit");
      child.kill();
      await ended;
    });
    return mock;
  }

  async #serve(request: IncomingMessage, response: ServerResponse, program: string): Promise<void> {
    const { method = "GET", url = "/", headers } = request;
    const name = `${method} ${url.split("?")[0]}`;
    const sent = await text(request);
    const body = name === "POST /v1/checkout/sessions" ? sent.replaceAll(...newName) : sent;
    const answer = await fetch(program + url, {
      method,
      headers: {
        authorization: headers.authorization ?? "",
        "content-type": headers["content-type"] ?? "",
      },
      ...(method === "GET" ? {} : { body }),
    });
    const content: unknown = await answer.json();
    const problem = Rejection.safeParse(content).data?.error.message;
    this.calls.push({ request: name, status: answer.status, problem });
    response.writeHead(answer.status, { "content-type": "application/json" });
    const result = answer.ok ? { ...Fields.parse(content), ...this.fields[name] } : content;
    response.end(JSON.stringify(result));
  }
}

/**
 * The endive versions of Stripe's API removed `payment_method_types` from the creation of a checkout, and have
 * `allowed_payment_method_types` instead. The newest stripe-mock has the last version before them.
 */
const newName = ["allowed_payment_method_types", "payment_method_types"] as const;
