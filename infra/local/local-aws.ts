import { createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import * as z from "zod/mini";

import { errorResponse, jsonResponse, accessDenied, type AwsResponse } from "./aws-requests.ts";
import { localCredentials } from "./connections.ts";
import type { DataServices } from "./data-services.ts";
import { traceHeader } from "./lineage.ts";
import { listenOnLoopback } from "./loopback.ts";
import type { Mailbox } from "./mailbox.ts";
import type { LocalSecrets } from "./secrets.ts";
import type { FunctionDefinition } from "./template.ts";

/** A request of a function to AWS. */
export interface AwsRequest {
  /** The function that asks; a function's access key id is its name. */
  readonly functionName: string;
  /** For example `dynamodb:UpdateItem`. */
  readonly operation: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Stands for the connection that it came over. */
  readonly connection: object;
}

export { errorResponse, type AwsResponse } from "./aws-requests.ts";

export type AwsHandler = (request: AwsRequest) => Promise<AwsResponse>;

export interface LocalAwsOptions {
  readonly dataServices: DataServices;
  /** Takes what is sent by email. */
  readonly mailbox: Mailbox;
  readonly secrets: LocalSecrets;
  /** Wraps the handling of each request: a test makes AWS fail with it. */
  readonly interceptor?: (request: AwsRequest, next: AwsHandler) => Promise<AwsResponse>;
}

/**
 * What the functions take for AWS: DynamoDB, SQS, Secrets Manager, KMS and SES behind one address. It knows which
 * function asks, refuses what the function's role does not allow, and passes the rest on.
 */
export class LocalAws {
  readonly #server: Server;
  readonly #options: LocalAwsOptions;
  readonly #functions = new Map<string, FunctionDefinition>();
  readonly #signingKeys = new Map<string, KeyObject>();
  #port = 0;

  private constructor(options: LocalAwsOptions) {
    this.#options = options;
    // A connection that is kept is closed by the client alone: a request must not cross with its end.
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      void this.#serve(request, response);
    });
  }

  static async start(options: LocalAwsOptions): Promise<LocalAws> {
    const endpoint = new LocalAws(options);
    endpoint.#port = await listenOnLoopback(endpoint.#server);
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Lets a function in, with what its role allows. */
  allow(definition: FunctionDefinition): void {
    this.#functions.set(definition.name, definition);
  }

  /** @param pem a private key on the curve P-256 */
  addSigningKey(id: string, pem: string): void {
    this.#signingKeys.set(id, createPrivateKey(pem));
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const request = await readRequest(incoming);
      const handle: AwsHandler = async (each) => this.#handle(each);
      const { interceptor } = this.#options;
      const response = await (interceptor === undefined ? handle(request) : interceptor(request, handle));
      outgoing.writeHead(response.status, response.headers).end(response.body);
    } catch (error) {
      // What an SDK sees of a broken connection, whether an interceptor wanted it or an emulator is down.
      outgoing.destroy(error instanceof Error ? error : undefined);
    }
  }

  async #handle(request: AwsRequest): Promise<AwsResponse> {
    const { functionName, operation } = request;
    const body: unknown = JSON.parse(request.body);
    const isSecret = operation.startsWith("secretsmanager:");
    // The operator's commands come here for secrets alone, with the access key that all data is kept under.
    if (isSecret && functionName === localCredentials.accessKeyId) return this.#secretAnswer(operation, body);
    const definition = this.#functions.get(functionName) ?? { statements: [], description: functionName };
    const refusal = accessDenied(definition, operation, body);
    if (refusal !== undefined) return refusal;
    if (isSecret) return this.#secretAnswer(operation, body);
    if (operation.startsWith("kms:")) return this.#keyAnswer(operation, body);
    const { dataServices, mailbox } = this.#options;
    if (operation === "ses:SendEmail") return jsonResponse(200, { MessageId: mailbox.add(body) });
    const [service, action = ""] = operation.split(":");
    const answer = await dataServices.send(
      service === "sqs" ? "sqs" : "dynamodb",
      action,
      request.body,
      request.headers[traceHeader],
    );
    return { ...answer, headers: { "content-type": "application/x-amz-json-1.0" } };
  }

  async #secretAnswer(operation: string, body: unknown): Promise<AwsResponse> {
    const answered = await this.#options.secrets.execute(operation.replace("secretsmanager:", ""), body);
    return "answer" in answered
      ? jsonResponse(200, answered.answer)
      : errorResponse(answered.error, "the secret is not there, or is there already");
  }

  #keyAnswer(operation: string, body: unknown): AwsResponse {
    const { KeyId } = z.object({ KeyId: z.string() }).parse(body);
    const key = this.#signingKeys.get(KeyId);
    if (key === undefined) return errorResponse("NotFoundException", "no such key");
    if (operation === "kms:GetPublicKey") {
      const PublicKey = createPublicKey(key).export({ format: "der", type: "spki" }).toString("base64");
      return jsonResponse(200, { KeyId, PublicKey });
    }
    const { Message } = ToSign.parse(body);
    const Signature = sign("sha256", Buffer.from(Message, "base64"), key).toString("base64");
    return jsonResponse(200, { KeyId, Signature });
  }
}

// What else KMS can do would need code of its own.
const ToSign = z.object({
  Message: z.string(),
  MessageType: z.literal("RAW"),
  SigningAlgorithm: z.literal("ECDSA_SHA_256"),
});

async function readRequest(incoming: IncomingMessage): Promise<AwsRequest> {
  const body = await text(incoming);
  const headers = headersOf(incoming);
  // Credential=<access key id>/<date>/<region>/<service>/aws4_request
  const [, functionName = "", service = ""] =
    /Credential=([^/]+)\/[^/]+\/[^/]+\/([^/]+)\//.exec(headers["authorization"] ?? "") ?? [];
  // SES tells what is asked of it by the path, all others in a header.
  const ofPath = incoming.url === "/v2/email/outbound-emails" ? "SendEmail" : "";
  const action = headers["x-amz-target"]?.split(".").at(-1) ?? ofPath;
  return { functionName, operation: `${service}:${action}`, headers, body, connection: incoming.socket };
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
