import { createServer as createTcpServer } from "node:net";
import { gzipSync } from "node:zlib";

import { beforeEach, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { kindNames, kinds, message, password, startCarrierServers } from "../support/http-carrier-kinds.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";

/*
 * The outcome of each response of an HTTP carrier. An unknown outcome is thrown as an error that has only a name.
 */

let servers: Awaited<ReturnType<typeof startCarrierServers>>;
beforeEach(async () => {
  servers = await startCarrierServers();
});

const rejected = (errorCode: string, providerCode: string) =>
  ({ outcome: "rejected", errorCode, providerCode }) as const;
const turnedAway = (status: number, providerCode = `HTTP${status}`) =>
  ({ outcome: "unreachable", reason: `TurnedAway${status}`, providerCode }) as const;
const statusOf = (status: string): string => JSON.stringify({ messages: [{ status }] });
const reasonOf = (reason: string): string => JSON.stringify({ reason });
/** It would be accepted if it were shorter. */
const tooLarge = JSON.stringify({ sid: "SM1", messages: [{ status: "OK", text: "x".repeat(70_000) }] });
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
    servers.server.answer = says(status, body);
    expect(await servers.carrierOfKind(kind).send(message)).toEqual(result);
  });

  it.each(kindNames)("of %s: 429 with the time of the next attempt", async (kind) => {
    servers.server.answer = says(429, "slow down", { "Retry-After": "7" });
    const later = { outcome: "throttled", providerCode: "HTTP429" };
    expect(await servers.carrierOfKind(kind).send(message)).toEqual({ ...later, retryAfterSeconds: 7 });
    servers.server.answer = says(429, "", { "Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT" });
    expect(await servers.carrierOfKind(kind).send(message)).toEqual({ ...later, retryAfterSeconds: 900 });
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
    [
      "compresses a response that is too large",
      (response) => response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(tooLarge)),
      "UnclearAnswer200",
    ],
  ] satisfies [string, HttpCarrier["answer"], string][])("when the carrier %s", async (_, answer, name) => {
    servers.server.answer = answer;
    const timeoutMs = name === "NoAnswerInTime" ? 300 : undefined;
    const error: unknown = await servers
      .carrierOfKind(kind, undefined, timeoutMs)
      .send(message)
      .catch((thrown: unknown) => thrown);
    expect(error).toHaveProperty("name", name);
    // An error must not log the carrier's texts or the request.
    expect(error).not.toHaveProperty("cause");
    expect(error instanceof Error ? `${error.message} ${error.stack}` : "").not.toContain(password);
    expect(servers.server.asked).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])("when it redirects with %i, which is not followed", async (status) => {
    const other = await HttpCarrier.start(says(202, "0: Accepted for delivery"));
    try {
      servers.server.answer = says(status, "", { Location: `${other.url}/elsewhere` });
      await expect(servers.carrierOfKind(kind).send(message)).rejects.toHaveProperty(
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
      const sending = servers.carrierOfKind(kind, `http://127.0.0.1:${port}`).send(message);
      await expect(sending).rejects.toHaveProperty("name", "AnswerBroken");
    } finally {
      tcp.close();
    }
  });
});

describe.each(kindNames)("a message to %s was not submitted", (kind) => {
  it("when no server listens", async () => {
    const stopped = await HttpCarrier.start(says(500));
    await stopped.stop();
    const result = await servers.carrierOfKind(kind, stopped.url).send(message);
    expect(result).toEqual({ outcome: "unreachable", reason: "ECONNREFUSED" });
  });

  it("when its name is not known", async () => {
    expect(await servers.carrierOfKind(kind, "http://no-such-host.invalid").send(message)).toMatchObject({
      outcome: "unreachable",
    });
  });

  it("when it has no certificate", async () => {
    const secure = servers.server.url.replace("http:", "https:");
    expect(await servers.carrierOfKind(kind, secure).send(message)).toMatchObject({ outcome: "unreachable" });
    expect(servers.server.asked).toEqual([]);
  });

  it("when its secret cannot be read, and it is submitted once it can", async () => {
    const carrier = servers.carrierOfKind(kind);
    const { answer } = servers.secrets;
    servers.secrets.answer = says(
      400,
      JSON.stringify({ __type: "AccessDeniedException", message: password }),
    );
    expect(await carrier.send(message)).toEqual({ outcome: "unreachable", reason: "SecretNotRead" });
    expect(servers.server.asked).toEqual([]);
    servers.secrets.answer = answer;
    servers.server.answer = kinds[kind].accepts;
    expect(await carrier.send(message)).toMatchObject({ outcome: "accepted" });
  });

  it("when its secret is another kind's", async () => {
    const carrier = servers.carrierOfKind(kind);
    servers.secrets.answer = says(
      200,
      JSON.stringify({ SecretString: JSON.stringify({ credentials: { other: "x" } }) }),
    );
    const result = await carrier.send(message);
    expect(result).toMatchObject({ outcome: "unreachable" });
    expect(servers.server.asked).toEqual([]);
  });
});
