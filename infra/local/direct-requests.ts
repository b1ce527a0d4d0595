import type * as NodeHttp from "node:http";
import { Readable } from "node:stream";

import { refusalOf, underAccessKey, withTrace } from "./aws-requests.ts";
import { traceHeader } from "./lineage.ts";
import type { FunctionDefinition } from "./template.ts";

/** What a function's thread needs to ask the emulators by itself. */
export interface DirectAccess extends Pick<FunctionDefinition, "description" | "statements"> {
  /** The address that the function takes for AWS. */
  readonly awsEndpoint: string;
  readonly dynamodbEndpoint: string;
  readonly sqsEndpoint: string;
  /** The one that all data is kept under. */
  readonly accessKeyId: string;
}

interface Emulator {
  readonly service: string;
  readonly url: URL;
}

type Http = Pick<typeof NodeHttp, "request">;
type OnResponse = (response: NodeHttp.IncomingMessage) => void;
/** The SDK names no address; whoever does asks somebody else. */
type RequestArguments =
  | [options: NodeHttp.RequestOptions, onResponse: OnResponse]
  | [url: URL | string, options: NodeHttp.RequestOptions, onResponse: OnResponse];

/**
 * Lets a thread's requests to DynamoDB and SQS go to the emulators, past the gateway's own thread, which all functions
 * would wait for. What the function's role does not allow is refused here. All else goes where it is sent.
 * @param http the module that the SDK makes its requests with
 */
export function askEmulatorsDirectly(http: Http, access: DirectAccess): void {
  const { request } = http;
  const awsPort = new URL(access.awsEndpoint).port;
  const emulators: ReadonlyMap<string, Emulator> = new Map([
    ["DynamoDB_20120810", { service: "dynamodb", url: new URL(access.dynamodbEndpoint) }],
    ["AmazonSQS", { service: "sqs", url: new URL(access.sqsEndpoint) }],
  ]);
  const ask = (...args: RequestArguments): NodeHttp.ClientRequest => {
    if (args.length === 3) return request(...args);
    const [options, onResponse] = args;
    const headers = headersOf(options);
    const [target = "", action = ""] = (headers["x-amz-target"] ?? "").split(".");
    const emulator = String(options.port) === awsPort ? emulators.get(target) : undefined;
    if (emulator === undefined) return request(options, onResponse);
    const { service, url } = emulator;
    const authorization = underAccessKey(headers["authorization"] ?? "", access.accessKeyId);
    const outgoing = request(
      {
        ...options,
        host: url.hostname,
        port: url.port,
        path: url.pathname,
        headers: { ...headers, host: url.host, authorization },
      },
      onResponse,
    );
    const end = outgoing.end.bind(outgoing);
    return Object.assign(outgoing, {
      // The SDK hands over a body as a whole.
      end: (body: Buffer | string) => {
        const content: object = JSON.parse(body.toString());
        const refusal = refusalOf(access, `${service}:${action}`, content);
        if (refusal !== undefined) {
          // Nothing has been sent yet.
          outgoing.removeAllListeners("error").on("error", () => undefined);
          outgoing.destroy();
          const { status: statusCode, headers: answered, body: text } = refusal;
          outgoing.emit(
            "response",
            Object.assign(Readable.from([Buffer.from(text)]), { statusCode, headers: answered }),
          );
          return outgoing;
        }
        const trace = service === "sqs" ? outgoing.getHeader(traceHeader) : undefined;
        if (trace === undefined) return end(body);
        const traced = JSON.stringify(withTrace(content, String(trace)));
        outgoing.setHeader("content-length", Buffer.byteLength(traced));
        return end(traced);
      },
    });
  };
  Object.assign(http, { request: ask });
}

function headersOf({ headers = {} }: NodeHttp.RequestOptions): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
