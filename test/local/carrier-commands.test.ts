import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { readBreakers } from "../../shared/carriers/breaker.ts";
import { assignNumber, releaseNumber } from "../../shared/messages/numbers/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer } from "../support/api.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { operator, type Ended } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The operator's commands for carriers, routes and numbers, in the order of their use, on a gateway whose customers
 * send meanwhile.
 */

let dataFolder: string;
let gateway: LocalGateway;
let stop: () => Promise<void>;
let customer: Customer;
let carrier: HttpCarrier;

/** The credential at the carrier. Only the carrier may see it. */
const token = "a token / with+spaces & more";
const secrets = [token, "another token", "a-password"];
/** The output of all commands in this file. */
const said: string[] = [];

beforeAll(async () => {
  ({ gateway, dataFolder, stop } = await startOperatedGateway());
  carrier = await HttpCarrier.start(says(200, JSON.stringify({ id: "carrier-1" })));
  customer = await (await Customer.register({ baseUrl: gateway.url, balance: 10 })).withApiKey();
});
afterAll(async () => {
  await carrier.stop();
  await stop();
});
beforeEach(() => {
  carrier.asked.length = 0;
  carrier.answer = says(200, JSON.stringify({ id: "carrier-1" }));
});

async function fileWith(name: string, content: unknown): Promise<string> {
  const file = path.join(dataFolder, name);
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

function settings(fields: object = {}): Record<string, unknown> {
  return {
    kind: "http",
    url: `${carrier.url}/messages`,
    headers: { Authorization: "Bearer {secret.token}" },
    body: { to: "{to}", text: "{text}", from: "{from}", tellUs: "{callbackUrl}" },
    responses: [
      { meaning: "accepted", statuses: [200] },
      { meaning: "rejected", statuses: [422] },
    ],
    referencePath: "id",
    ...fields,
  };
}

async function run(...args: readonly string[]): Promise<Ended> {
  const ended = await operator(args);
  said.push(ended.out, ended.err);
  return ended;
}

/** Reads the output of a command with --json. */
async function json<Schema extends z.ZodMiniType>(
  schema: Schema,
  ...args: readonly string[]
): Promise<z.output<Schema>[]> {
  const { code, out, err } = await run(...args, "--json");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = out.trimEnd().split("\n");
  return lines.filter((line) => line !== "").map((line) => schema.parse(JSON.parse(line)));
}

async function setCarrier(name: string, ...more: readonly string[]): Promise<Ended> {
  const file = await fileWith("settings.json", settings());
  const credentials = await fileWith("credentials.json", { token });
  return run("carriers", "set", name, "--settings", file, "--credentials", credentials, ...more);
}

/** Sends a message, a minute after the last change. @returns its id and its final state */
async function send(
  to = "447700900123",
): Promise<{ id: string; status: string; errorCode?: string | undefined }> {
  gateway.advanceClock(minuteMs);
  const { id } = await customer.send({ to });
  return vi.waitFor(async () => {
    const { status, errorCode } = await customer.client.getSms({ params: { id } });
    if (status === "queued") throw new Error("the message is not final");
    return { id, status, errorCode };
  }, patience);
}

const Entry = z.looseObject({ action: z.string(), outcome: z.optional(z.string()) });

/** The entries of the stage's audit log about commands of a name, the newest first. */
async function auditLog(action: string): Promise<z.output<typeof Entry>[]> {
  return (await json(Entry, "audit-log", "--limit", "1000")).filter((entry) => entry.action === action);
}

const nothing = z.looseObject({});

it("a number needs the name of its carrier while there is only the sandbox", async () => {
  expect(await run("numbers", "assign", "447700900199", customer.email)).toMatchObject({
    code: 1,
    err: "Name the carrier of the number: --carrier.\n",
  });
  // As an earlier release has stored them.
  for (const number of ["447700900198", "447700900197"]) {
    await assignNumber({ number, organizationId: customer.organizationId });
  }
});

it("a carrier is created with separate secrets, and accepts messages once it has a route", async () => {
  const made = await setCarrier("acme", "--throughput", "30");
  expect(made).toMatchObject({ code: 0, err: "" });
  expect(made.out).toContain("Test it with: carriers test acme --to NUMBER");
  await send();
  expect(carrier.asked).toEqual([]);

  expect(await run("routes", "set", "44", "--carriers", "acme")).toMatchObject({
    code: 0,
    out: "44: acme\n",
  });
  expect((await send()).status).toBe("sent");
  expect(carrier.asked).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: "" }] = carrier.asked;
  expect(headers.authorization).toBe(`Bearer ${token}`);
  expect(JSON.parse(body)).toMatchObject({ to: "447700900123" });
  expect(String(JSON.parse(body).tellUs)).toMatch(
    new RegExp(`^${gateway.url}/v1/carriers/acme/receipts\\?token=[\\w-]{43}&reference=org_\\w+\\.msg_\\w+$`),
  );
  // All other numbers have no carrier now.
  expect(await send("15005550000")).toMatchObject({ status: "failed", errorCode: "MESSAGE_UNROUTABLE" });
});

it("carriers are listed with their state, and shown without secrets", async () => {
  expect((await run("carriers", "list")).out).toMatch(
    /^CARRIER +KIND +STATE +THROUGHPUT +ROUTES\nacme +http +enabled +30 +1\n$/,
  );
  const { out } = await run("carriers", "show", "acme");
  expect(out).toMatch(/^Carrier +acme\nKind +http\nState +enabled\nThroughput +30 segments a second\n/);
  expect(out).toContain("Bearer {secret.token}");
  expect(out).toMatch(/^Setting url +http:\S+$/m);
  const [shown] = await json(nothing, "carriers", "show", "acme");
  expect(Object.keys(shown ?? {}).filter((name) => /token|version|replies/i.test(name))).toEqual([]);
});

it("the address for inbound messages has the token, and the audit log names who requested it", async () => {
  const Shown = z.object({ inboundUrl: z.string() });
  const inboundUrl = async (): Promise<string | undefined> =>
    (await json(Shown, "carriers", "show", "acme", "--callbacks"))[0]?.inboundUrl;
  const before = await inboundUrl();
  expect(before).toMatch(new RegExp(`^${gateway.url}/v1/carriers/acme/inbound\\?token=[\\w-]{43}$`));
  expect(await auditLog("carriers show")).toMatchObject([{ outcome: "done" }]);
  const status = async (url = ""): Promise<number> => (await fetch(url)).status;
  // A call needs a valid token.
  expect(await status(before)).toBe(400);
  await setCarrier("acme", "--rotate-callback-token");
  const after = await inboundUrl();
  expect(after).not.toBe(before);
  gateway.advanceClock(minuteMs);
  expect([await status(before), await status(after)]).toEqual([404, 400]);
});

it("settings are changed without the credentials, and credentials without a deploy", async () => {
  const moved = await fileWith("moved.json", settings({ url: `${carrier.url}/moved` }));
  expect(await run("carriers", "set", "acme", "--settings", moved, "--throughput", "none")).toMatchObject({
    code: 0,
    err: "",
  });
  await send();
  expect(carrier.asked.map(({ url, headers }) => [url.pathname, headers.authorization])).toEqual([
    ["/moved", `Bearer ${token}`],
  ]);
  expect((await run("carriers", "list")).out).toMatch(/acme +http +enabled +- +1\n/);

  carrier.asked.length = 0;
  // From standard input, which leaves them in no file.
  const child = spawn(
    process.execPath,
    ["infra/operator/main.ts", "carriers", "set", "acme", "--settings", moved, "--credentials", "-"],
    { env: { PATH: process.env["PATH"], DATA_DIR: dataFolder } },
  );
  child.stdin.end('{ "token": "another token" }');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  said.push(out, err);
  expect(err).toBe("");
  await send();
  expect(carrier.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer another token"]);
});

it("within a minute a disabled carrier gets no messages, and the next one of their route does", async () => {
  // The only real carrier is that of the number.
  expect((await run("numbers", "assign", "447700900197", customer.email)).code).toBe(0);
  expect((await run("numbers", "list")).out).toMatch(/447700900197 .* acme\n447700900198 .* any carrier\n/);
  expect((await setCarrier("beta")).err).toBe(
    "Replies to these numbers count from each carrier: 447700900198. " +
      "Bind each with: numbers assign NUMBER ORGANIZATION --carrier NAME\n",
  );
  for (const number of ["447700900198", "447700900197"]) await releaseNumber(number);
  await run("routes", "set", "44", "--carriers", "acme,beta");
  expect((await run("carriers", "disable", "acme")).out).toMatch(/State +disabled since /);
  await setCarrier("beta");
  expect((await run("carriers", "list")).out).toMatch(
    /acme +http +disabled since .* 1\nbeta +http +enabled /,
  );
  await send();
  expect(carrier.asked.map(({ url }) => url.pathname)).toEqual(["/messages"]);
  // It stays disabled when its settings are changed.
  const moved = await fileWith("moved.json", settings({ url: `${carrier.url}/moved` }));
  expect((await run("carriers", "set", "acme", "--settings", moved)).out).toMatch(/State +disabled since /);
  expect((await run("carriers", "enable", "acme")).out).toMatch(/State +enabled\n/);
  await send();
  expect(carrier.asked.map(({ url }) => url.pathname)).toEqual(["/messages", "/moved"]);
});

it("the route of a message is found: first by its type, then by the longest prefix", async () => {
  await run("routes", "set", "default", "--carriers", "beta");
  await run("routes", "set", "4477", "--type", "otp", "--carriers", "beta, acme");
  expect((await run("routes", "list")).out).toMatch(
    /^PREFIX +TYPE +CARRIERS +CHANGED\ndefault +any +beta .*\n44 +any +acme, beta .*\n4477 +otp +beta, acme .*\n$/,
  );
  const prefixFor = async (...args: readonly string[]): Promise<unknown[]> =>
    (await json(z.object({ prefix: z.string() }), "routes", "list", ...args)).map(({ prefix }) => prefix);
  expect(await prefixFor("--to", "447700900123", "--type", "otp")).toEqual(["4477"]);
  expect(await prefixFor("--to", "447700900123")).toEqual(["44"]);
  expect(await prefixFor("--to", "4915112345678")).toEqual([""]);
  expect(await prefixFor("--type", "otp")).toEqual(["4477"]);
  await run("routes", "remove", "default");
  expect((await run("routes", "list", "--to", "4915112345678")).out).toBe(
    "There is no route to this number: messages to it fail with MESSAGE_UNROUTABLE.\n",
  );
});

it("a carrier is tested with one message, and its response is shown without secrets in any form", async () => {
  await setCarrier("acme");
  const credentials = await fileWith("credentials.json", { token, user: "a-user", password: "a-password" });
  const basic = settings({
    url: `${carrier.url}/messages?key={secret.token}`,
    basicAuthentication: { userName: "{secret.user}", password: "{secret.password}" },
    headers: {},
  });
  const file = await fileWith("basic.json", basic);
  await run("carriers", "set", "acme", "--settings", file, "--credentials", credentials);
  carrier.answer = (response, { url, headers }) => {
    const body = JSON.stringify({
      id: "it-1",
      url,
      headers,
      token,
      "as a form": new URLSearchParams({ token }).toString(),
    });
    response.writeHead(200).end(body);
  };
  const tried = await run(
    "carriers",
    "test",
    "acme",
    "--to",
    "447700900123",
    "--from",
    "ACME",
    "--text",
    "Hello",
  );
  expect(tried).toMatchObject({ code: 0, err: "" });
  expect(tried.out).toMatch(/Outcome +accepted\nReference +it-1\n/);
  expect(tried.out).toMatch(/Status +200\nResponse +\{"id":"it-1","url":"\/messages\?key=…"/);
  expect(tried.out).toContain('"authorization":"Basic …"');
  expect(JSON.parse(carrier.asked[0]?.body ?? "")).toMatchObject({
    to: "447700900123",
    from: "ACME",
    text: "Hello",
  });
  // No log has the recipient and the text of a test.
  expect(JSON.stringify(await auditLog("carriers test"))).not.toMatch(/447700900123|Hello/);

  carrier.answer = says(422, "no");
  const rejected = await run("carriers", "test", "acme", "--to", "447700900123");
  expect(rejected).toMatchObject({ code: 1, err: "" });
  expect(rejected.out).toMatch(/Outcome +rejected\nCode +HTTP422\nReason +MESSAGE_PROVIDER_ERROR\n/);
  carrier.answer = says(500, "oh");
  expect((await run("carriers", "test", "acme", "--to", "447700900123")).out).toMatch(
    /Outcome +unknown\nReason +UnclearAnswer500\n(.*\n)*Status +500\nResponse +oh\n/,
  );
});

it("an accepted test closes the breaker of a carrier that did not respond", async () => {
  const [openedAt, probeFailedAt] = ["2026-01-01T00:00:00.000Z", "2026-01-01T00:10:00.000Z"];
  const set = {
    entity: "breaker",
    openedAt,
    probeFailedAt,
    failedProbes: 3,
    leaseUntil: "2099-01-01T00:00:00.000Z",
  } as const;
  await updateItem(z.unknown(), updateOf(keys.breaker("acme"), { set }));
  const state = `not responding since ${openedAt}, last probe: ${probeFailedAt}, next: ${set.leaseUntil}`;
  expect((await run("carriers", "list")).out).toContain(state);
  carrier.answer = says(500, "no");
  await run("carriers", "test", "acme", "--to", "447700900123");
  expect((await readBreakers()).get("acme")).toMatchObject({ failedProbes: 3 });
  carrier.answer = says(200, JSON.stringify({ id: "carrier-1" }));
  const tried = await run("carriers", "test", "acme", "--to", "447700900123");
  expect(tried.out).toMatch(/Breaker +closed/);
  expect(Object.keys((await readBreakers()).get("acme") ?? {}).toSorted()).toEqual(["entity", "sk"]);
  expect((await run("carriers", "list")).out).not.toContain("not responding");
});

it.each([
  [["carriers", "set", "Acme", "--settings", "x"], 2, "<name> must be 1 to 32 lower-case letters"],
  [["carriers", "set", "acme"], 2, "--settings is missing"],
  [
    ["carriers", "set", "acme", "--settings", "x", "--throughput", "fast"],
    2,
    "--throughput must be a number of segments",
  ],
  [
    ["carriers", "set", "acme", "--settings", "x", "--throughput", "0"],
    2,
    "--throughput must be a number of segments",
  ],
  [["carriers", "set", "acme", "--settings", "/nowhere.json"], 1, "Cannot read the file /nowhere.json."],
  [["carriers", "show", "missing"], 1, "There is no carrier missing."],
  [["carriers", "disable", "missing"], 1, "There is no carrier missing."],
  [["carriers", "test", "missing", "--to", "447700900123"], 1, "There is no carrier missing."],
  [["carriers", "test", "acme", "--to", "0044"], 2, "--to "],
  [["carriers", "test", "acme"], 2, "--to "],
  [["carriers", "remove", "missing"], 1, "There is no carrier missing."],
  [["carriers", "remove", "beta"], 1, "The route 44 uses beta: change the route first."],
  [
    ["routes", "set", "+44", "--carriers", "acme"],
    2,
    "<prefix> must be the first digits of the numbers, or default",
  ],
  [["routes", "set", "44"], 2, "--carriers is missing"],
  [["routes", "set", "44", "--carriers", "acme,acme"], 2, "--carriers must not contain a name twice"],
  [["routes", "set", "44", "--carriers", "acme,"], 2, "--carriers must be 1 to 32 lower-case letters"],
  [
    ["routes", "set", "44", "--carriers", "acme,missing"],
    1,
    "There is no carrier missing: add it with carriers set.",
  ],
  [["routes", "set", "44", "--carriers", "acme", "--type", "sale"], 2, "--type "],
  [["routes", "remove", "45"], 1, "There is no route 45."],
  [["routes", "remove", "44", "--type", "otp"], 1, "There is no route 44 (otp)."],
  [["numbers", "assign", "12", "ada@example.com"], 2, "<number> must be 3 to 15 digits"],
  [["numbers", "assign", "90909", "nobody@example.com"], 1, "nobody@example.com"],
  [["numbers", "release", "90909"], 1, "90909 belongs to no organization."],
] as const)(
  "%j ends with %i and one line with the reason, and changes nothing",
  async (args, code, reason) => {
    const before = await json(nothing, "audit-log", "--limit", "1000");
    const { out, err, code: ended } = await run(...args);
    expect({ out, code: ended }).toEqual({ out: "", code });
    expect(err).toContain(reason);
    expect(err.trimEnd()).not.toContain("\n");
    expect(await json(nothing, "audit-log", "--limit", "1000")).toEqual(before);
  },
);

const password = "a-password";

it.each([
  ["no JSON", `{ "kind": "http", "url": "${password}`, undefined, "settings.json is not JSON."],
  ["credentials that are no JSON", undefined, `{ "token": ${password} }`, "credentials.json is not JSON."],
  ["another kind", { kind: "smpp" }, undefined, "settings.json: kind: "],
  ["no kind", {}, undefined, "settings.json: kind: "],
  ["what is missing", { kind: "kannel" }, undefined, "settings.json: url: "],
  ["an unknown kind", { kind: "sandbox", colour: "red" }, undefined, "colour"],
  [
    "a URL with a password",
    { kind: "kannel", url: `http://me:${password}@10.0.0.5/` },
    undefined,
    "settings.json: url: must not have",
  ],
  [
    "a URL with a password in its query",
    { kind: "kannel", url: `http://10.0.0.5/?password=${password}` },
    undefined,
    "url.password: move the secret to the credentials",
  ],
  [
    "another kind under a name that is there",
    { kind: "twilio" },
    { accountSid: "AC1", authToken: password },
    "acme is of the kind http: delete it first",
  ],
  [
    "credentials of another kind",
    { kind: "kannel", url: "http://10.0.0.5/" },
    { token: password },
    "The credentials are not valid: username: ",
  ],
  ["no credentials", { kind: "kannel", url: "http://10.0.0.5/" }, undefined, "new needs credentials."],
  [
    "a line break in a secret",
    { kind: "kannel", url: "http://10.0.0.5/" },
    { username: "me", password: `${password}\nHost: x` },
    "password: must be printable ASCII characters in one line",
  ],
  [
    "a placeholder of nothing",
    { body: { to: "{to}", text: "{txt}" } },
    { token },
    "body: the placeholder {txt} has no value",
  ],
  [
    "a secret that there is none of",
    { headers: { "X-Api-Key": "{secret.key}" } },
    { token },
    "headers: the placeholder {secret.key} has no value",
  ],
  [
    "a text in a header",
    { headers: { "X-Text": "{text}" } },
    { token },
    "headers: the placeholder {text} has no value",
  ],
  ["no text", { body: { to: "{to}" } }, { token }, "{text} is missing in url and body"],
  ["repeats without a reference", { idempotent: true }, { token }, "idempotent needs a {reference}"],
  [
    "a secret in a header",
    { headers: { Authorization: `Bearer ${password}` } },
    { token },
    "headers.Authorization: move the secret to the credentials",
  ],
  [
    "a secret in the body",
    { body: { to: "{to}", text: "{text}", apiKey: password } },
    { token },
    "body.apiKey: move the secret to the credentials",
  ],
  [
    "a password in the settings",
    { basicAuthentication: { userName: "me", password } },
    { token },
    "basicAuthentication.password: move the secret to the credentials",
  ],
  [
    "an unknown meaning",
    { responses: [{ meaning: "ok", statuses: [200] }] },
    { token },
    "settings.json: responses.0.meaning: ",
  ],
])("settings with %s change nothing, and no secret is shown", async (_, given, credentials, reason) => {
  const isWhole = typeof given !== "object" || "kind" in given || Object.keys(given).length === 0;
  const file = await fileWith("settings.json", isWhole ? (given ?? settings()) : settings(given));
  const name = reason.startsWith("acme") ? "acme" : "new";
  const before = await json(nothing, "audit-log", "--limit", "1000");
  const options =
    credentials === undefined ? [] : ["--credentials", await fileWith("credentials.json", credentials)];
  const { out, err, code } = await run("carriers", "set", name, "--settings", file, ...options);
  expect({ out, code }).toEqual({ out: "", code: 1 });
  expect(err).toContain(reason);
  expect(err.trimEnd()).not.toContain("\n");
  // An operator does not read a line that is longer than three of a terminal.
  expect(err.length).toBeLessThan(300);
  expect(await json(nothing, "audit-log", "--limit", "1000")).toEqual(before);
  expect((await json(nothing, "carriers", "list")).map((each) => each["name"])).toEqual(["acme", "beta"]);
});

it("a name of the stage's own carriers is reserved for their kind", async () => {
  const file = await fileWith("settings.json", settings());
  const credentials = await fileWith("credentials.json", { token });
  expect(await run("carriers", "set", "aws", "--settings", file, "--credentials", credentials)).toMatchObject(
    {
      code: 1,
      err: "Only a carrier of the kind aws may have that name.\n",
    },
  );
});

it("a number belongs to one organization, or to several by their keywords", async () => {
  const other = await Customer.register({ baseUrl: gateway.url });
  const several = await run("numbers", "assign", "+12025550100", customer.email);
  expect(several).toMatchObject({ code: 1, err: "Name the carrier of the number: --carrier.\n" });
  const none = await run("numbers", "assign", "+12025550100", customer.email, "--carrier", "none");
  expect(none).toMatchObject({ code: 1, err: "There is no carrier none.\n" });
  expect(await run("numbers", "assign", "+12025550100", customer.email, "--carrier", "acme")).toMatchObject({
    code: 0,
    out: `12025550100  ${customer.organizationId}\n`,
  });
  // The number keeps its carrier.
  expect((await run("numbers", "assign", "12025550100", customer.email)).code).toBe(0);
  expect((await run("numbers", "assign", "12025550100", other.email)).err).toBe(
    `12025550100 is assigned to ${customer.organizationId} alone: run numbers release first.\n`,
  );
  await run("numbers", "assign", "90909", customer.email, "--keyword", "pizza", "--carrier", "aws");
  await run("numbers", "assign", "90909", other.email, "--keyword", "Pasta");
  for (const [keyword, reason] of [
    ["PIZZA", `PIZZA at 90909 is assigned to ${customer.organizationId}: run numbers release first.`],
    ["two words", "A keyword is one word of letters and digits."],
    ["stop", "STOP means stop for every number."],
  ] as const) {
    const rejected = await run("numbers", "assign", "90909", other.email, "--keyword", keyword);
    expect(rejected).toEqual({ code: 1, out: "", err: `${reason}\n` });
  }
  expect((await run("numbers", "assign", "90909", other.email)).err).toContain(
    "90909 is shared by 2 keywords",
  );
  expect((await run("numbers", "list")).out).toMatch(
    new RegExp(
      `^NUMBER +KEYWORD +ORGANIZATION +CARRIER\\n12025550100 +${customer.organizationId} +acme\\n` +
        `90909 +PASTA +${other.organizationId} +aws\\n90909 +PIZZA +${customer.organizationId} +aws\\n$`,
    ),
  );
  expect(await run("numbers", "release", "90909", "--keyword", "pizza")).toMatchObject({
    code: 0,
    out: "90909 pizza is released\n",
  });
  await run("numbers", "release", "12025550100");
  const rows = await json(nothing, "numbers", "list");
  const pasta = { number: "90909", keyword: "PASTA", organizationId: other.organizationId, carrier: "aws" };
  expect(rows).toEqual([pasta]);
  expect(await auditLog("numbers release")).toMatchObject([
    { before: { organizationId: customer.organizationId }, after: {} },
    { before: { keywords: { PIZZA: customer.organizationId, PASTA: other.organizationId } } },
  ]);
});

it("a carrier without routes is deleted with its secrets, and without routes the stage's own carrier is used", async () => {
  await run("routes", "set", "44", "--carriers", "acme");
  await run("routes", "remove", "4477", "--type", "otp");
  const last = await run("routes", "remove", "44");
  expect(last.out).toBe(
    "the route 44 is removed\nThere are no routes: all messages go to the carrier in the stage's file.\n",
  );
  for (const name of ["acme", "beta"]) {
    expect(await run("carriers", "remove", name)).toMatchObject({ code: 0, out: `${name} is removed\n` });
  }
  expect((await run("carriers", "list")).out).toContain("There are no routes");
  // The keys of the local payment provider remain.
  const stored = await readFile(path.join(dataFolder, "operator-secrets.json"), "utf8");
  expect(Object.keys(Object(JSON.parse(stored)))).toEqual(["sms-gateway-local/payments/stripe"]);
  expect((await send("15005550000")).status).toBe("sent");
});

it("no command has shown a secret, and the audit log has none", async () => {
  await run("audit-log", "--limit", "1000", "--json");
  const all = said.join("\n");
  expect(all).toContain("carriers set");
  for (const secret of secrets) {
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")]) {
      expect(all).not.toContain(form);
    }
  }
});

it("a message is found by its id, its number and its state, with the response of its carrier", async () => {
  const file = await fileWith("settings.json", settings({ codePath: "error.code" }));
  const credentials = await fileWith("credentials.json", { token });
  await run("carriers", "set", "coded", "--settings", file, "--credentials", credentials);
  await run("routes", "set", "4479", "--carriers", "coded");
  carrier.answer = says(422, JSON.stringify({ error: { code: 21606, message: "The From number is wrong" } }));
  const failed = await send("447911123456");
  expect(failed).toMatchObject({ status: "failed", errorCode: "MESSAGE_PROVIDER_ERROR" });

  const byId = await run("messages", "show", failed.id);
  expect(byId).toMatchObject({ code: 0, err: "" });
  expect(byId.out).toMatch(/^State +failed MESSAGE_PROVIDER_ERROR$/m);
  expect(byId.out).toMatch(/\nTIME +CARRIER +OUTCOME +CODE\n\S+ +coded +rejected +21606\n$/);
  expect(byId.out).not.toMatch(/The From number|hello/);
  const attempts = [{ at: expect.any(String), carrier: "coded", outcome: "rejected", code: "21606" }];
  const organizationId = customer.organizationId;
  expect(await json(nothing, "messages", "show", failed.id, "--organization", organizationId)).toMatchObject([
    { id: failed.id, organizationId, attempts },
  ]);

  const Listed = z.looseObject({ id: z.string(), status: z.string(), to: z.string() });
  const found = async (...options: readonly string[]) =>
    json(Listed, "messages", "list", "--organization", organizationId, ...options);
  expect(await found("--number", "+447911123456")).toMatchObject([{ id: failed.id, attempts }]);
  const allFailed = await found("--status", "failed");
  expect(new Set(allFailed.map(({ status }) => status))).toEqual(new Set(["failed"]));
  expect(allFailed[0]?.id).toBe(failed.id);
  expect(await found("--limit", "1")).toMatchObject([{ id: failed.id }]);
  expect((await found("--since", "2020-01-01")).length).toBeGreaterThan(allFailed.length);
  expect(await found("--since", "2099-01-01")).toEqual([]);
  const listed = await run("messages", "list", "--organization", organizationId, "--limit", "1");
  expect(listed.out).toMatch(
    /^MESSAGE +ACCEPTED +TO +STATE +ERROR +CARRIER +CODE +DELIVERY\n.* coded +21606\n/,
  );
  expect(listed.out).toContain("1 messages; there may be more\n");

  const nobodys = "msg_01J00000000000000000000000";
  expect(await run("messages", "show", nobodys)).toMatchObject({
    code: 1,
    err: `There is no message ${nobodys}.\n`,
  });
  expect(await run("messages", "list")).toMatchObject({ code: 2 });
  expect(await run("messages", "list", "--organization", organizationId, "--since", "May")).toMatchObject({
    code: 2,
  });
});
