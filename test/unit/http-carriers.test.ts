import { beforeEach, describe, expect, it } from "vitest";

import { carrierOf } from "../../shared/carriers/carriers.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { kinds, message, password, startCarrierServers, token } from "../support/http-carrier-kinds.ts";
import { says } from "../support/http-carrier.ts";

/*
 * Each kind of HTTP carrier, against a test carrier over real HTTP: the requests to it.
 */

let servers: Awaited<ReturnType<typeof startCarrierServers>>;
beforeEach(async () => {
  servers = await startCarrierServers();
});

const callback = `https://sms.example.com/v1/carriers/one/receipts?token=${token}&reference=org_1.msg_1`;

describe("a message is submitted", () => {
  it("by Kannel's sendsms interface", async () => {
    servers.server.answer = kinds.kannel.accepts;
    expect(await servers.carrierOfKind("kannel").send(message)).toEqual({ outcome: "accepted" });
    const [asked] = servers.server.asked;
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
    await servers.carrierOfKind("kannel").send({ ...message, encoding: "UCS-2" });
    expect(servers.server.asked[1]?.url.searchParams.get("coding")).toBe("2");
  });

  it("by Twilio's Messages interface", async () => {
    servers.server.answer = kinds.twilio.accepts;
    expect(await servers.carrierOfKind("twilio").send(message)).toEqual({
      outcome: "accepted",
      carrierReference: "SM1",
    });
    const [asked] = servers.server.asked;
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
    servers.server.answer = kinds.twilio.accepts;
    const settings = { kind: "twilio" as const, url: servers.server.url, messagingServiceSid: "MG1" };
    servers.carrierOfKind("twilio");
    const record = { name: "one", settings, secretId: "two", secretVersion: "1" };
    await carrierOf(record).send(message);
    expect(Object.fromEntries(new URLSearchParams(servers.server.asked[0]?.body))).toEqual({
      To: "+447700900123",
      MessagingServiceSid: "MG1",
      Body: "5 € & more?",
    });
    await carrierOf(record).send({ ...message, from: "442079460000", isFromNumber: true });
    await carrierOf(record).send({ ...message, from: "90909", isFromNumber: true });
    const senders = servers.server.asked.slice(1).map(({ body }) => new URLSearchParams(body).get("From"));
    expect(senders).toEqual(["+442079460000", "90909"]);
  });

  it("by the mapping of any HTTP interface", async () => {
    servers.server.answer = kinds.http.accepts;
    expect(await servers.carrierOfKind("http").send(message)).toEqual({
      outcome: "accepted",
      carrierReference: "17",
    });
    const [asked] = servers.server.asked;
    expect(asked?.method).toBe("POST");
    expect(asked?.url.href).toBe(`${servers.server.url}/messages/447700900123?key=${password}`);
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
      servers.server.answer = kinds[kind].accepts;
      await servers.carrierOfKind(kind).send({ ...message, validitySeconds });
      const { url, body = "" } = servers.server.asked.at(-1) ?? {};
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
    servers.carrierOfKind("http");
    servers.server.answer = says(200);
    const form = {
      ...base,
      url: `${servers.server.url}/form`,
      bodyFormat: "form",
      body: { to: "{to}", text: "{text}" },
    };
    const typed = { ...message, text: "{secret.key} {to}" };
    await carrierOf({ ...record, settings: CarrierSettings.parse(form) }).send(typed);
    const query = { ...base, method: "GET", url: `${servers.server.url}/get?to={to}&text={text}` };
    await carrierOf({ ...record, settings: CarrierSettings.parse(query) }).send(typed);
    expect(new URLSearchParams(servers.server.asked[0]?.body).get("text")).toBe("{secret.key} {to}");
    expect(servers.server.asked[0]?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(servers.server.asked[1]?.url.searchParams.get("text")).toBe("{secret.key} {to}");
    expect(servers.server.asked[1]).toMatchObject({ method: "GET", body: "" });
  });
});

it("reads the secret of a carrier once, and in the version that its record names", async () => {
  servers.server.answer = kinds.kannel.accepts;
  const carrier = servers.carrierOfKind("kannel");
  for (let count = 0; count < 3; count += 1) await carrier.send(message);
  expect(servers.secrets.asked.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { SecretId: "sms-gateway-local/carriers/one", VersionId: servers.secretVersion() },
  ]);
});

it("uses a new connection for each message, because a kept one may be broken", async () => {
  servers.server.answer = kinds.kannel.accepts;
  const carrier = servers.carrierOfKind("kannel");
  await carrier.send(message);
  await carrier.send(message);
  expect(servers.server.asked.map(({ headers }) => headers.connection)).toEqual(["close", "close"]);
});
