import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { listenOnLoopback } from "../../infra/local/loopback.ts";

/** A request to a carrier. */
interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (response: ServerResponse, request: IncomingMessage, body: string) => void;

/** An emulated carrier over real HTTP, with scripted responses. */
export class HttpCarrier {
  readonly asked: Asked[] = [];
  answer: Answer;
  url = "";
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  private constructor(answer: Answer) {
    this.answer = answer;
  }

  static async start(answer: Answer): Promise<HttpCarrier> {
    const carrier = new HttpCarrier(answer);
    carrier.url = `http://127.0.0.1:${await listenOnLoopback(carrier.#server)}`;
    return carrier;
  }

  /** The settings with which the gateway sends messages to it. */
  settings(fields: object = {}): Readonly<Record<string, unknown>> {
    return {
      kind: "http",
      url: `${this.url}/messages`,
      body: { to: "{to}", text: "{text}", callback: "{callbackUrl}" },
      responses: [
        { meaning: "accepted", statuses: [200] },
        { meaning: "rejected", statuses: [422] },
      ],
      referencePath: "id",
      receipts: { statusPath: "status", delivered: ["yes"], undelivered: ["no"], errorPath: "reason" },
      inbound: { fromPath: "from", toPath: "to", textPath: "text" },
      ...fields,
    };
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", headers } = request;
    response.on("error", () => undefined);
    const body = await text(request);
    this.asked.push({ method, url: new URL(request.url ?? "", this.url), headers, body });
    this.answer(response, request, body);
  }
}

/** Responds with a status and a body. */
export function says(status: number, body = "", headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => void response.writeHead(status, headers).end(body);
}
