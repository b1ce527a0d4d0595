import { createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

import * as z from "zod/mini";

import {
  errorResponse,
  jsonResponse,
  accessDenied,
  rejectionOfStranger,
  type AwsResponse,
  type Permissions,
} from "./aws-requests.ts";
import { localCredentials } from "./connections.ts";
import type { DataServices } from "./data-services.ts";
import { traceHeader } from "./lineage.ts";
import { listenOnLoopback, newSecretPath } from "./loopback.ts";
import type { Mailbox } from "./mailbox.ts";
import { readObjectRequest, type LocalObjects } from "./objects.ts";
import { deniedPermission } from "./permissions.ts";
import type { LocalSecrets } from "./secrets.ts";
import type { FunctionDefinition } from "./template.ts";

/** A request of a function to AWS. */
export interface AwsRequest {
  /** The function that sends it; a function's access key id is its name. */
  readonly functionName: string;
  /** For example `dynamodb:UpdateItem`. */
  readonly operation: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Identifies the connection of the request. */
  readonly connection: object;
}

export { errorResponse, type AwsResponse } from "./aws-requests.ts";

export type AwsHandler = (request: AwsRequest) => Promise<AwsResponse>;

export interface LocalAwsOptions {
  readonly dataServices: DataServices;
  /** Whether only programs that know the address may call it. */
  readonly isSecret: boolean;
  /** Receives the sent emails. */
  readonly mailbox: Mailbox;
  readonly secrets: LocalSecrets;
  readonly objects: LocalObjects;
  /** Wraps the handling of each request, so that a test can make AWS fail. */
  readonly interceptor?: (request: AwsRequest, next: AwsHandler) => Promise<AwsResponse>;
}

/**
 * The AWS endpoint of the functions: DynamoDB, SQS, Secrets Manager, KMS, SES and S3 at one address. It identifies the
 * function, rejects requests that the function's role does not allow, and passes the others on.
 */
export class LocalAws {
  readonly #server: Server;
  readonly #options: LocalAwsOptions;
  readonly #functions = new Map<string, Permissions>();
  readonly #signingKeys = new Map<string, KeyObject>();
  readonly #secretPath: string;
  #port = 0;

  private constructor(options: LocalAwsOptions) {
    this.#options = options;
    this.#secretPath = options.isSecret ? newSecretPath() : "";
    // Only the client closes an idle connection: otherwise a request could arrive as the server closes it.
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
    return `http://127.0.0.1:${this.#port}${this.#secretPath}`;
  }

  /** Registers a function, or a policy of an operator's role, with its permissions. */
  allow(definition: Permissions & Pick<FunctionDefinition, "name">): void {
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
      const response =
        rejectionOfStranger(incoming, this.#secretPath) ??
        (await this.#respond(await readRequest(incoming, this.#secretPath)));
      outgoing.writeHead(response.status, response.headers).end(response.bytes ?? response.body);
    } catch (error) {
      // The SDK sees a broken connection: an interceptor wants this, or an emulator is down.
      outgoing.destroy(error instanceof Error ? error : undefined);
    }
  }

  async #respond(request: AwsRequest): Promise<AwsResponse> {
    const handle: AwsHandler = async (each) => this.#handle(each);
    const { interceptor } = this.#options;
    return interceptor === undefined ? handle(request) : interceptor(request, handle);
  }

  async #handle(request: AwsRequest): Promise<AwsResponse> {
    const { functionName, operation } = request;
    const body: unknown = JSON.parse(request.body);
    const isSecret = operation.startsWith("secretsmanager:");
    const { dataServices, mailbox, objects } = this.#options;
    // The operator's commands call this endpoint for secrets, documents and queues, with the access key of all data.
    const isOperator = functionName === localCredentials.accessKeyId;
    const definition = this.#functions.get(functionName) ?? { statements: [], description: functionName };
    const denied = isOperator ? undefined : accessDenied(definition, operation, body);
    if (denied !== undefined) return denied;
    if (isSecret) return this.#secretResponse(operation, body);
    if (operation.startsWith("kms:")) return this.#keyResponse(operation, body);
    if (operation.startsWith("s3:")) {
      const response = await objects.execute(operation.replace("s3:", ""), body);
      // S3 reports that an object is missing only to those who may list the bucket.
      const isHidden =
        !isOperator &&
        response.status === 404 &&
        deniedPermission(definition.statements, "s3:ListBucket", body);
      return isHidden ? errorResponse("AccessDenied", "not authorized to list the bucket", 403) : response;
    }
    if (operation === "ses:SendEmail") return jsonResponse(200, { MessageId: mailbox.add(body) });
    const [service, action = ""] = operation.split(":");
    // The local gateway authenticates no people: the token of an operator's session is their name.
    const SenderId = request.headers["x-amz-security-token"] ?? functionName;
    const response = await dataServices.send(
      service === "sqs" ? "sqs" : "dynamodb",
      action,
      operation === "sqs:SendMessage" ? JSON.stringify({ ...Object(body), SenderId }) : request.body,
      request.headers[traceHeader],
    );
    return { ...response, headers: { "content-type": "application/x-amz-json-1.0" } };
  }

  async #secretResponse(operation: string, body: unknown): Promise<AwsResponse> {
    const result = await this.#options.secrets.execute(operation.replace("secretsmanager:", ""), body);
    return "output" in result
      ? jsonResponse(200, result.output)
      : errorResponse(result.error, "the secret does not exist, or exists already");
  }

  #keyResponse(operation: string, body: unknown): AwsResponse {
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

// The only way of signing that is supported.
const ToSign = z.object({
  Message: z.string(),
  MessageType: z.literal("RAW"),
  SigningAlgorithm: z.literal("ECDSA_SHA_256"),
});

async function readRequest(incoming: IncomingMessage, secretPath: string): Promise<AwsRequest> {
  const content = await buffer(incoming);
  const headers = headersOf(incoming);
  const url = (incoming.url ?? "").slice(secretPath.length);
  // Credential=<access key id>/<date>/<region>/<service>/aws4_request
  const [, functionName = "", service = ""] =
    /Credential=([^/]+)\/[^/]+\/[^/]+\/([^/]+)\//.exec(headers["authorization"] ?? "") ?? [];
  if (service === "s3") {
    const [operation, body] = readObjectRequest({ headers, url }, content);
    return { functionName, operation, headers, body, connection: incoming.socket };
  }
  const body = content.toString();
  // SES has the operation in the path, all other services have it in a header.
  const ofPath = url === "/v2/email/outbound-emails" ? "SendEmail" : "";
  const action = headers["x-amz-target"]?.split(".").at(-1) ?? ofPath;
  return { functionName, operation: `${service}:${action}`, headers, body, connection: incoming.socket };
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
