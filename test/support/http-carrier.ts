import type { IncomingMessage, ServerResponse } from "node:http";

import { startHttpServer, type ReceivedRequest } from "./http-server.ts";

/** A request to a carrier. */
interface Asked extends Omit<ReceivedRequest, "path"> {
  readonly url: URL;
}

type Answer = (response: ServerResponse, request: IncomingMessage, body: string) => void;

/** An emulated carrier over real HTTP, with scripted responses. */
export class HttpCarrier {
  readonly asked: Asked[] = [];
  answer: Answer;
  url = "";
  stop = async (): Promise<void> => undefined;

  private constructor(answer: Answer) {
    this.answer = answer;
  }

  static async start(answer: Answer): Promise<HttpCarrier> {
    const carrier = new HttpCarrier(answer);
    const { url, stop } = await startHttpServer(({ path, ...request }, response) => {
      response.on("error", () => undefined);
      carrier.asked.push({ ...request, url: new URL(path, carrier.url) });
      carrier.answer(response, response.req, request.body);
    });
    return Object.assign(carrier, { url, stop });
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
}

/** Responds with a status and a body. */
export function says(status: number, body = "", headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => void response.writeHead(status, headers).end(body);
}
