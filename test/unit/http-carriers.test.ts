import { createServer as createTcpServer } from "node:net";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { listenOnLoopback } from "../../infra/loopback.ts";
import type { Carrier, OutgoingMessage } from "../../shared/carriers/carrier.ts";
import { carrierOf } from "../../shared/carriers/carriers.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { localSettings } from "../support/local-settings.ts";

/*
 * Each kind of HTTP carrier, against a test carrier over real HTTP: the requests to it, and the outcome of each response.
 * An unknown outcome is thrown as an error that has only a name.
 */

const password = "correct-horse-battery";
const token = "callback-token-1";

const message: OutgoingMessage = {
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

const kinds: Readonly<Record<"http" | "kannel" | "twilio", Kind>> = {
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
const kindNames = ["kannel", "twilio", "http"] as const;

let server: HttpCarrier;
let secrets: HttpCarrier;
let secretVersion = 0;

beforeEach(async () => {
  for (const [name, value] of Object.entries(localSettings)) vi.stubEnv(name, value);
  server = await HttpCarrier.start(says(500));
  secrets = await HttpCarrier.start(says(500));
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", secrets.url);
});
afterEach(async () => {
  await server.stop();
  await secrets.stop();
  vi.unstubAllEnvs();
});

function carrierOfKind(kind: keyof typeof kinds, url = server.url): Carrier {
  const { settings, credentials } = kinds[kind];
  const SecretString = JSON.stringify({ credentials, callbackToken: token });
  secrets.answer = says(200, JSON.stringify({ SecretString }));
  secretVersion += 1;
  return carrierOf(
    {
      name: "one",
      settings: CarrierSettings.parse(settings(url)),
      secretId: "sms-gateway-local/carriers/one",
      secretVersion: String(secretVersion),
      callbackBaseUrl: "https://sms.example.com",
    },
    { connectTimeoutMs: 1_000, timeoutMs: 2_000 },
  );
}

const callback = `https://sms.example.com/v1/carriers/one/receipts?token=${token}&reference=org_1.msg_1`;

describe("a message is submitted", () => {
  it("by Kannel's sendsms interface", async () => {
    server.answer = kinds.kannel.accepts;
    expect(await carrierOfKind("kannel").send(message)).toEqual({ outcome: "accepted" });
    const [asked] = server.asked;
    expect(asked?.method).toBe("GET");
    expect(asked?.url.pathname).toBe("/cgi-bin/sendsms");
    expect(Object.fromEntries(asked?.url.searchParams ?? [])).toEqual({
      username: "bridge",
      password,
      from: "ACME",
      to: "+447700900123",
      text: "5 € & more?",
      charset: "UTF-8",
      coding: "0",
      smsc: "london",
      "dlr-mask": "19",
      "dlr-url": `${callback}&type=%d&answer=%A`,
    });
    await carrierOfKind("kannel").send({ ...message, encoding: "UCS-2" });
    expect(server.asked[1]?.url.searchParams.get("coding")).toBe("2");
  });

  it("by Twilio's Messages interface", async () => {
    server.answer = kinds.twilio.accepts;
    expect(await carrierOfKind("twilio").send(message)).toEqual({
      outcome: "accepted",
      carrierReference: "SM1",
    });
    const [asked] = server.asked;
    expect(asked?.method).toBe("POST");
    expect(asked?.url.pathname).toBe("/2010-04-01/Accounts/AC123/Messages.json");
    expect(asked?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from(`AC123:${password}`).toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
      To: "+447700900123",
      From: "ACME",
      Body: "5 € & more?",
      StatusCallback: callback,
    });
  });

  it("by a messaging service of Twilio instead of a sender ID", async () => {
    server.answer = kinds.twilio.accepts;
    const settings = { kind: "twilio" as const, url: server.url, messagingServiceSid: "MG1" };
    carrierOfKind("twilio");
    const record = { name: "one", settings, secretId: "two", secretVersion: "1" };
    await carrierOf(record).send(message);
    expect(Object.fromEntries(new URLSearchParams(server.asked[0]?.body))).toEqual({
      To: "+447700900123",
      MessagingServiceSid: "MG1",
      Body: "5 € & more?",
    });
  });

  it("by the mapping of any HTTP interface", async () => {
    server.answer = kinds.http.accepts;
    expect(await carrierOfKind("http").send(message)).toEqual({
      outcome: "accepted",
      carrierReference: "17",
    });
    const [asked] = server.asked;
    expect(asked?.method).toBe("POST");
    expect(asked?.url.href).toBe(`${server.url}/messages/447700900123?key=${password}`);
    expect(asked?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from(`acme:${password}`).toString("base64")}`,
      "content-type": "application/json",
      "x-reference": "org_1.msg_1",
    });
    expect(JSON.parse(asked?.body ?? "")).toEqual({
      recipient: "+447700900123",
      sender: "ACME",
      content: { text: "5 € & more?", type: "gsm" },
      flash: false,
      report: callback,
      // A message that does not expire has the longest validity that there is.
      validity: { seconds: 259_200, text: "259200 s" },
    });
  });

  it("to each kind with the time that is left until the message expires", async () => {
    const validityOf = async (kind: keyof typeof kinds, validitySeconds: number): Promise<unknown> => {
      server.answer = kinds[kind].accepts;
      await carrierOfKind(kind).send({ ...message, validitySeconds });
      const { url, body = "" } = server.asked.at(-1) ?? {};
      if (kind === "kannel") return url?.searchParams.get("validity");
      if (kind === "twilio") return new URLSearchParams(body).get("ValidityPeriod");
      return JSON.parse(body).validity;
    };
    // Whole minutes, of which the last one counts as one.
    expect(await validityOf("kannel", 600)).toBe("10");
    expect(await validityOf("kannel", 119)).toBe("1");
    expect(await validityOf("kannel", 5)).toBe("1");
    expect(await validityOf("twilio", 599)).toBe("599");
    // Ten hours is the longest that Twilio takes.
    expect(await validityOf("twilio", 259_200)).toBe("36000");
    expect(await validityOf("http", 599)).toEqual({ seconds: 599, text: "599 s" });
  });

  it("in a form, or in a URL alone, without replacing placeholders that a customer has typed", async () => {
    const responses = [{ meaning: "accepted" as const, statuses: [200] }];
    const base = { kind: "http", responses };
    const record = { name: "one", secretId: "form", secretVersion: "1" };
    carrierOfKind("http");
    server.answer = says(200);
    const form = {
      ...base,
      url: `${server.url}/form`,
      bodyFormat: "form",
      body: { to: "{to}", text: "{text}" },
    };
    const typed = { ...message, text: "{secret.key} {to}" };
    await carrierOf({ ...record, settings: CarrierSettings.parse(form) }).send(typed);
    const query = { ...base, method: "GET", url: `${server.url}/get?to={to}&text={text}` };
    await carrierOf({ ...record, settings: CarrierSettings.parse(query) }).send(typed);
    expect(new URLSearchParams(server.asked[0]?.body).get("text")).toBe("{secret.key} {to}");
    expect(server.asked[0]?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(server.asked[1]?.url.searchParams.get("text")).toBe("{secret.key} {to}");
    expect(server.asked[1]).toMatchObject({ method: "GET", body: "" });
  });
});

const rejected = (errorCode: string, providerCode: string) =>
  ({ outcome: "rejected", errorCode, providerCode }) as const;
const turnedAway = (status: number, providerCode = `HTTP${status}`) =>
  ({ outcome: "unreachable", reason: `TurnedAway${status}`, providerCode }) as const;
const statusOf = (status: string): string => JSON.stringify({ messages: [{ status }] });
const reasonOf = (reason: string): string => JSON.stringify({ reason });
const codeOf = (code: number): string => JSON.stringify({ code, message: "in words", status: 400 });

describe("the outcome of a response", () => {
  it.each([
    ["kannel", 202, "0: Accepted for delivery", { outcome: "accepted" }],
    [
      "kannel",
      202,
      "3: Queued for later delivery",
      { outcome: "accepted", isBuffered: true, providerCode: "HTTP202.3" },
    ],
    ["kannel", 403, "Not routable. Do not try again.", rejected("MESSAGE_UNROUTABLE", "HTTP403")],
    ["kannel", 403, "Authorization failed for sendsms", turnedAway(403)],
    ["kannel", 400, "Garbage 'to' field, rejected.", rejected("MESSAGE_INVALID_DESTINATION", "HTTP400")],
    [
      "kannel",
      400,
      "Sender missing and no global set, rejected",
      rejected("MESSAGE_PROVIDER_ERROR", "HTTP400"),
    ],
    ["kannel", 503, "Temporal failure, try again later.", { outcome: "throttled", providerCode: "HTTP503" }],
    ["twilio", 400, codeOf(21211), rejected("MESSAGE_INVALID_DESTINATION", "21211")],
    ["twilio", 400, codeOf(21614), rejected("MESSAGE_INVALID_DESTINATION", "21614")],
    ["twilio", 400, codeOf(21408), rejected("MESSAGE_UNROUTABLE", "21408")],
    ["twilio", 400, codeOf(21612), rejected("MESSAGE_UNROUTABLE", "21612")],
    ["twilio", 400, codeOf(21610), rejected("MESSAGE_RECIPIENT_OPTED_OUT", "21610")],
    ["twilio", 400, codeOf(21606), rejected("MESSAGE_PROVIDER_ERROR", "21606")],
    ["twilio", 400, "", rejected("MESSAGE_PROVIDER_ERROR", "HTTP400")],
    ["twilio", 400, codeOf(14107), { outcome: "throttled", providerCode: "14107" }],
    ["twilio", 401, codeOf(20003), turnedAway(401, "20003")],
    ["twilio", 403, codeOf(20005), turnedAway(403, "20005")],
    ["http", 200, statusOf("BAD_NUMBER"), rejected("MESSAGE_INVALID_DESTINATION", "HTTP200")],
    ["http", 200, statusOf("NO_ROUTE"), rejected("MESSAGE_UNROUTABLE", "HTTP200")],
    ["http", 200, statusOf("STOPPED"), rejected("MESSAGE_RECIPIENT_OPTED_OUT", "HTTP200")],
    ["http", 422, "", rejected("MESSAGE_PROVIDER_ERROR", "HTTP422")],
    ["http", 422, reasonOf("E-17.b"), rejected("MESSAGE_PROVIDER_ERROR", "E-17.b")],
    // Text with spaces is not a code, and a long code is cut.
    ["http", 422, reasonOf("the number is wrong"), rejected("MESSAGE_PROVIDER_ERROR", "HTTP422")],
    ["http", 422, reasonOf("A".repeat(40)), rejected("MESSAGE_PROVIDER_ERROR", "A".repeat(32))],
    ["http", 422, reasonOf("A".repeat(65)), rejected("MESSAGE_PROVIDER_ERROR", "HTTP422")],
    ["http", 503, JSON.stringify({ retry: true, reason: 7 }), { outcome: "throttled", providerCode: "7" }],
    ["http", 401, "", turnedAway(401)],
    ["http", 404, "", turnedAway(404)],
  ] as const)("of %s: %i %s", async (kind, status, body, result) => {
    server.answer = says(status, body);
    expect(await carrierOfKind(kind).send(message)).toEqual(result);
  });

  it.each(kindNames)("of %s: 429 with the time of the next attempt", async (kind) => {
    server.answer = says(429, "slow down", { "Retry-After": "7" });
    const later = { outcome: "throttled", providerCode: "HTTP429" };
    expect(await carrierOfKind(kind).send(message)).toEqual({ ...later, retryAfterSeconds: 7 });
    server.answer = says(429, "", { "Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT" });
    expect(await carrierOfKind(kind).send(message)).toEqual({ ...later, retryAfterSeconds: 900 });
  });
});

describe.each(kindNames)("the outcome of a message to %s is unknown", (kind) => {
  it.each([
    [
      "responds with 500 after it accepted the message",
      says(500, `failed for ${password}`),
      "UnclearAnswer500",
    ],
    ["responds with 502", says(502), "UnclearAnswer502"],
    ["responds with 503 and an unknown body", says(503, "<html>busy</html>"), "UnclearAnswer503"],
    ["responds with 200 and an unknown body", says(200, "<html>hello</html>"), "UnclearAnswer200"],
    ["responds with an empty object", says(201, "{}"), "UnclearAnswer201"],
    ["never responds", () => undefined, "NoAnswerInTime"],
    [
      "responds one byte at a time",
      (response) => {
        response.writeHead(200);
        const dripping = setInterval(() => response.write(" "), 20);
        response.on("close", () => clearInterval(dripping));
      },
      "NoAnswerInTime",
    ],
    [
      "closes in the middle of its response",
      (response) => {
        response.writeHead(202, { "Content-Length": "100" }).write("0: Acc");
        setImmediate(() => response.destroy());
      },
      "AnswerBroken",
    ],
    [
      "resets the connection once it has the message",
      (_, request) => request.socket.resetAndDestroy(),
      "AnswerBroken",
    ],
    [
      "never ends its response",
      (response) => response.writeHead(200).end("x".repeat(200_000)),
      "AnswerTooLarge",
    ],
  ] satisfies [string, HttpCarrier["answer"], string][])("when the carrier %s", async (_, answer, name) => {
    server.answer = answer;
    const error: unknown = await carrierOfKind(kind)
      .send(message)
      .catch((thrown: unknown) => thrown);
    expect(error).toHaveProperty("name", name);
    // An error must not log the carrier's texts or the request.
    expect(error).not.toHaveProperty("cause");
    expect(error instanceof Error ? `${error.message} ${error.stack}` : "").not.toContain(password);
    expect(server.asked).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])("when it redirects with %i, which is not followed", async (status) => {
    const other = await HttpCarrier.start(says(202, "0: Accepted for delivery"));
    try {
      server.answer = says(status, "", { Location: `${other.url}/elsewhere` });
      await expect(carrierOfKind(kind).send(message)).rejects.toHaveProperty(
        "name",
        `UnclearAnswer${status}`,
      );
      expect(other.asked).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it("when the server does not speak HTTP", async () => {
    const tcp = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(`garbage ${password}\r\n\r\n`));
    });
    try {
      const port = await listenOnLoopback(tcp);
      const sending = carrierOfKind(kind, `http://127.0.0.1:${port}`).send(message);
      await expect(sending).rejects.toHaveProperty("name", "AnswerBroken");
    } finally {
      tcp.close();
    }
  });
});

describe.each(kindNames)("a message to %s was not submitted", (kind) => {
  it("when no server listens", async () => {
    const { url } = server;
    await server.stop();
    const result = await carrierOfKind(kind, url).send(message);
    server = await HttpCarrier.start(says(500));
    expect(result).toEqual({ outcome: "unreachable", reason: "ECONNREFUSED" });
  });

  it("when its name is not known", async () => {
    expect(await carrierOfKind(kind, "http://no-such-host.invalid").send(message)).toMatchObject({
      outcome: "unreachable",
    });
  });

  it("when it has no certificate", async () => {
    const secure = server.url.replace("http:", "https:");
    expect(await carrierOfKind(kind, secure).send(message)).toMatchObject({ outcome: "unreachable" });
    expect(server.asked).toEqual([]);
  });

  it("when its secret cannot be read, and it is submitted once it can", async () => {
    const carrier = carrierOfKind(kind);
    const { answer } = secrets;
    secrets.answer = says(400, JSON.stringify({ __type: "AccessDeniedException", message: password }));
    expect(await carrier.send(message)).toEqual({ outcome: "unreachable", reason: "SecretNotRead" });
    expect(server.asked).toEqual([]);
    secrets.answer = answer;
    server.answer = kinds[kind].accepts;
    expect(await carrier.send(message)).toMatchObject({ outcome: "accepted" });
  });

  it("when its secret is another kind's", async () => {
    const carrier = carrierOfKind(kind);
    secrets.answer = says(
      200,
      JSON.stringify({ SecretString: JSON.stringify({ credentials: { other: "x" } }) }),
    );
    const result = await carrier.send(message);
    expect(result).toMatchObject({ outcome: "unreachable" });
    expect(server.asked).toEqual([]);
  });
});

it("reads the secret of a carrier once, and in the version that its record names", async () => {
  server.answer = kinds.kannel.accepts;
  const carrier = carrierOfKind("kannel");
  for (let count = 0; count < 3; count += 1) await carrier.send(message);
  expect(secrets.asked.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { SecretId: "sms-gateway-local/carriers/one", VersionId: String(secretVersion) },
  ]);
});

it("uses a new connection for each message, because a kept one may be broken", async () => {
  server.answer = kinds.kannel.accepts;
  const carrier = carrierOfKind("kannel");
  await carrier.send(message);
  await carrier.send(message);
  expect(server.asked.map(({ headers }) => headers.connection)).toEqual(["close", "close"]);
});
