import { everyRow, type AnyOptions, type Endpoint, type Page } from "./call.ts";
import { headersOf, headerText, webAddress } from "./request-values.ts";
import { callReliably, type ClientSettings } from "./retries.ts";

/*
 * The entry point of the npm package. The build fills in its table of operations, and generates its types from the OpenAPI
 * document (`infra/build/sdks/npm.ts`).
 */

export { everyRow } from "./call.ts";
export { ConnectionError, RequestError, SmsGatewayError } from "./errors.ts";
export { signWebhook, verifyWebhook, WebhookVerificationError } from "./verify-webhook.ts";

/** Operations by name. The build replaces it with the public rows of the route table. */
declare const OPERATIONS: Readonly<Record<string, Endpoint>>;
declare const VERSION: string;

/**
 * Creates a client with one method for each operation.
 * @throws TypeError about an address or a credential that cannot be used, without its value
 */
export function createClient(settings: ClientSettings): Readonly<Record<string, Method>> {
  const { credential } = settings;
  // A browser may not send this header to other origins.
  const agent = "document" in globalThis ? {} : { "User-Agent": `sms-gateway-typescript/${VERSION}` };
  // The paths of operations begin with the version.
  const trimmed = {
    ...settings,
    ...(credential === undefined ? {} : { credential: headerText("credential", credential) }),
    headers: { ...agent, ...headersOf(settings.headers) },
    baseUrl: webAddress("baseUrl", settings.baseUrl).replace(/\/*(\/v1\/*)?$/, ""),
  };
  const methods = Object.entries(OPERATIONS).map(([operation, endpoint]): [string, Method] => [
    operation,
    endpoint.paged === true
      ? (options) => pages(trimmed, endpoint, options)
      : async (options = {}) => callReliably(trimmed, endpoint, options),
  ]);
  return Object.fromEntries(methods);
}

type Method = (options?: AnyOptions) => Promise<unknown>;

/** The first page of a list as a promise, and all rows from there on as an iterable. */
function pages(settings: ClientSettings, endpoint: Endpoint, options: AnyOptions = {}): PageRequest {
  const readPage = async (next: { cursor?: string }): Promise<Page<unknown>> => {
    const query = { ...options.query, ...next };
    // A paged operation returns its rows and their place.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return callReliably(settings, endpoint, { ...options, query }) as Promise<Page<unknown>>;
  };
  const first = readPage({});
  const rows = (): AsyncGenerator => everyRow(async (next) => ("cursor" in next ? readPage(next) : first));
  return Object.assign(first, { [Symbol.asyncIterator]: rows });
}

type PageRequest = Promise<Page<unknown>> & AsyncIterable<unknown>;
