import { onTestFinished, vi } from "vitest";

import type { Carrier, OutgoingMessage } from "../../shared/carriers/carrier.ts";
import { carrierOf } from "../../shared/carriers/carriers.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { HttpCarrier, says } from "./http-carrier.ts";
import { localSettings } from "./local-settings.ts";

/** The secret of each carrier. */
export const password = "correct-horse-battery";
export const token = "callback-token-1";

export const message: OutgoingMessage = {
  reference: "org_1.msg_1",
  to: "447700900123",
  country: "GB",
  from: "ACME",
  text: "5 € & more?",
  encoding: "GSM-7",
  isPromotional: false,
};

interface Kind {
  readonly settings: (url: string) => unknown;
  readonly credentials: Readonly<Record<string, string>>;
  readonly accepts: ReturnType<typeof says>;
}

export const kinds: Readonly<Record<"http" | "kannel" | "twilio", Kind>> = {
  kannel: {
    settings: (url) => ({ kind: "kannel", url: `${url}/cgi-bin/sendsms`, smsc: "london" }),
    credentials: { username: "bridge", password },
    accepts: says(202, "0: Accepted for delivery"),
  },
  twilio: {
    settings: (url) => ({ kind: "twilio", url }),
    credentials: { accountSid: "AC123", authToken: password },
    accepts: says(201, JSON.stringify({ sid: "SM1", status: "queued" })),
  },
  http: {
    settings: (url) => ({
      kind: "http",
      url: `${url}/messages/{to}?key={secret.key}`,
      headers: { "X-Reference": "{reference}" },
      basicAuthentication: { userName: "acme", password: "{secret.key}" },
      body: {
        recipient: "+{to}",
        sender: "{from}",
        content: { text: "{text}", type: "{encoding}" },
        flash: false,
        report: "{callbackUrl}",
        validity: { seconds: "{validitySeconds}", text: "{validitySeconds} s" },
      },
      encodings: { "GSM-7": "gsm", "UCS-2": "unicode" },
      responses: [
        { meaning: "accepted", statuses: [200], path: "messages.0.status", values: ["OK"] },
        {
          meaning: "invalid-destination",
          statuses: [200],
          path: "messages.0.status",
          values: ["BAD_NUMBER"],
        },
        { meaning: "unroutable", statuses: [200], path: "messages.0.status", values: ["NO_ROUTE"] },
        { meaning: "opted-out", statuses: [200], path: "messages.0.status", values: ["STOPPED"] },
        { meaning: "rejected", statuses: [400, 422] },
        { meaning: "throttled", statuses: [503], path: "retry" },
      ],
      referencePath: "messages.0.id",
      codePath: "reason",
    }),
    credentials: { key: password },
    accepts: says(200, JSON.stringify({ messages: [{ status: "OK", id: 17 }] })),
  },
};
export const kindNames = ["kannel", "twilio", "http"] as const;

/** The carrier of a test, and the Secrets Manager with its credentials. */
interface CarrierServers {
  readonly server: HttpCarrier;
  readonly secrets: HttpCarrier;
  /** Returns the carrier of a kind, which sends to the server or to another address, with other fields in its settings. */
  readonly carrierOfKind: (
    kind: keyof typeof kinds,
    url?: string,
    timeoutMs?: number,
    fields?: object,
  ) => Carrier;
  /** Returns the version of the secret of the newest carrier. */
  readonly secretVersion: () => string;
}

let versions = 0;

/** Starts the servers of a test, which respond with 500 at first, and stops them after the test. */
export async function startCarrierServers(): Promise<CarrierServers> {
  for (const [name, value] of Object.entries(localSettings)) vi.stubEnv(name, value);
  const [server, secrets] = [await HttpCarrier.start(says(500)), await HttpCarrier.start(says(500))];
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", secrets.url);
  onTestFinished(async () => {
    await server.stop();
    await secrets.stop();
    vi.unstubAllEnvs();
  });
  const secretVersion = (): string => String(versions);
  const carrierOfKind: CarrierServers["carrierOfKind"] = (
    kind,
    url = server.url,
    timeoutMs = 2_000,
    fields = {},
  ) => {
    const { settings, credentials } = kinds[kind];
    const SecretString = JSON.stringify({ credentials, callbackToken: token });
    secrets.answer = says(200, JSON.stringify({ SecretString }));
    versions += 1;
    return carrierOf(
      {
        name: "one",
        settings: CarrierSettings.parse({ ...Object(settings(url)), ...fields }),
        secretId: "sms-gateway-local/carriers/one",
        secretVersion: secretVersion(),
        callbackBaseUrl: "https://sms.example.com",
      },
      { connectTimeoutMs: 1_000, timeoutMs },
    );
  };
  return { server, secrets, carrierOfKind, secretVersion };
}
