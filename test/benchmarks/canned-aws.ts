import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import type { RequestOptions } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { Readable } from "node:stream";

import * as z from "zod/mini";

import type { AwsResponse } from "../../infra/local/aws-requests.ts";

/*
 * A replacement of Node's HTTP client that has a recorded AWS response for each kind of request.
 */

/**
 * Returns the kind of a request, which determines its response: the operation, the families of its keys, and its effect on
 * an item.
 * @param body as it is sent: to parse it would take a part of the time that is measured
 */
export function kindOf(operation: string, body: string): string {
  const families = [...body.matchAll(/":?pk":\{"S":"([^#"]*)/g)].map(([, family]) => family);
  const [, update] = /"UpdateExpression":"([^"]*)/.exec(body) ?? [];
  return [operation, ...families, update].join(" ");
}

const Enqueued = z.union([
  z.object({ Entries: z.array(z.object({ Id: z.string(), MessageBody: z.string() })) }),
  z.object({ MessageBody: z.string() }),
]);

/** The first request without a recorded response. */
let unanswered: string | undefined;

/** @throws Error if a request had no recorded response */
export function checkThatAllWasAnswered(): void {
  if (unanswered !== undefined) throw new Error(`no response is recorded for ${unanswered}`);
}

/** A request that gets its response once its body is there; it has no socket. */
class CannedRequest extends EventEmitter {
  readonly #headers: Readonly<Record<string, unknown>>;
  readonly #answers: ReadonlyMap<string, AwsResponse>;

  constructor(
    { headers }: RequestOptions,
    answers: ReadonlyMap<string, AwsResponse>,
    onResponse: (response: unknown) => void,
  ) {
    super();
    this.#headers = Object.fromEntries(Object.entries(headers ?? {}));
    this.#answers = answers;
    this.once("response", onResponse);
  }

  end(content: Uint8Array | string = ""): this {
    const { status, headers, body } = this.#answerTo(Buffer.from(content).toString());
    const chunks = [Buffer.from(body)];
    const stream = new Readable({ read: () => stream.push(chunks.pop() ?? null) });
    setImmediate(() => this.emit("response", Object.assign(stream, { statusCode: status, headers })));
    return this;
  }

  setTimeout(): this {
    return this;
  }

  setSocketKeepAlive(): void {}

  destroy(): this {
    return this;
  }

  #answerTo(content: string): AwsResponse {
    const target = this.#headers["x-amz-target"];
    // The only requests that do not go to AWS are those to a customer's webhook.
    if (typeof target !== "string") return { status: 204, headers: {}, body: "" };
    // Its client compares the digests of what it has sent.
    if (target.startsWith("AmazonSQS.")) return { status: 200, headers: {}, body: enqueuedAnswer(content) };
    const kind = kindOf(target.split(".").at(-1) ?? "", content);
    const answer = this.#answers.get(kind);
    unanswered ??= answer === undefined ? kind : undefined;
    return answer ?? { status: 400, headers: {}, body: "{}" };
  }
}

function enqueuedAnswer(content: string): string {
  const answerTo = (body: string): object => ({
    MessageId: "1",
    MD5OfMessageBody: createHash("md5").update(body).digest("hex"),
  });
  const enqueued = Enqueued.parse(JSON.parse(content));
  if ("MessageBody" in enqueued) return JSON.stringify(answerTo(enqueued.MessageBody));
  const Successful = enqueued.Entries.map(({ Id, MessageBody }) => ({ Id, ...answerTo(MessageBody) }));
  return JSON.stringify({ Successful });
}

/**
 * Handles all requests over plain HTTP in this process. It has to be called before the client is loaded.
 */
export function answerRequests(answers: ReadonlyMap<string, AwsResponse>): void {
  type Respond = (response: unknown) => void;
  // The SDK passes options and a callback; the call of a webhook passes its address before them.
  const request = (...args: [RequestOptions, Respond] | [URL, RequestOptions, Respond]): CannedRequest =>
    args.length === 2
      ? new CannedRequest(args[0], answers, args[1])
      : new CannedRequest(args[1], answers, args[2]);
  Object.assign(process.getBuiltinModule("node:http"), { request });
  syncBuiltinESMExports();
}
