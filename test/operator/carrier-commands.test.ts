import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { readBreakers } from "../../shared/carriers/breaker.ts";
import { assignNumber, releaseNumber } from "../../shared/messages/numbers/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import type { Customer } from "../support/api.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { auditLog, jsonOf, operator, outputOf, printed, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The operator's commands for carriers and routes, in the order of their use, on a gateway whose customers send meanwhile.
 */

const operated = useOperatedGateway();
const { fileOf } = operated;
let customer: Customer;
let carrier: HttpCarrier;

/** The credential at the carrier. Only the carrier may see it. */
const token = "a token / with+spaces & more";
const password = "a-password";

beforeAll(async () => {
  carrier = await HttpCarrier.start(says(200, JSON.stringify({ id: "carrier-1" })));
  customer = await (await operated.register({ balance: 10 })).withApiKey();
});
afterAll(async () => carrier.stop());
beforeEach(() => {
  carrier.asked.length = 0;
  carrier.answer = says(200, JSON.stringify({ id: "carrier-1" }));
});

/** The command that creates or changes a carrier, without its credentials. */
async function change(name: string, fields: object = {}): Promise<string> {
  const body = { to: "{to}", text: "{text}", from: "{from}", tellUs: "{callbackUrl}" };
  const settings = carrier.settings({ headers: { Authorization: "Bearer {secret.token}" }, body, ...fields });
  return `carriers set ${name} --settings ${await fileOf(settings, "settings.json")}`;
}

/** The command that creates or changes a carrier. */
async function set(name: string, fields: object = {}, credentials: unknown = { token }): Promise<string> {
  return `${await change(name, fields)} --credentials ${await fileOf(credentials, "credentials.json")}`;
}

/** Sends a message, a minute after the last change. @returns its final state */
async function send(to = "447700900123"): Promise<{ status: string; errorCode?: string | undefined }> {
  operated.gateway.advanceClock(minuteMs);
  const { id } = await customer.send({ to });
  return vi.waitFor(async () => {
    const { status, errorCode } = await customer.message(id);
    if (status === "queued") throw new Error("the message is not final");
    return { status, errorCode };
  }, patience);
}

/** The paths and credentials of the requests to the carrier. */
const asked = () => carrier.asked.map(({ url, headers }) => [url.pathname, headers.authorization]);

it("a number needs the name of its carrier while there is only the sandbox", async () => {
  expect(await rejectionOf(`numbers assign 447700900199 ${customer.email}`)).toBe(
    "Name the carrier of the number: --carrier.",
  );
  // As an earlier release has stored them.
  for (const number of ["447700900198", "447700900197"]) {
    await assignNumber({ number, organizationId: customer.organizationId });
  }
});

it("a carrier is created with separate secrets, and accepts messages once it has a route", async () => {
  const made = await outputOf(`${await set("acme")} --throughput 30`);
  expect(made).toContain("Test it with: carriers test acme --to NUMBER");
  await send();
  expect(carrier.asked).toEqual([]);

  const rest = "everything else: the stage's carrier sandbox, which sends nothing\n";
  expect(await outputOf("routes set 44 --carriers acme")).toBe(`44: acme\n${rest}`);
  expect(await auditLog("routes set")).toHaveLength(1);
  expect((await send()).status).toBe("sent");
  expect(asked()).toEqual([["/messages", `Bearer ${token}`]]);
  const receipts = `${operated.gateway.url}/v1/carriers/acme/receipts`;
  expect(JSON.parse(carrier.asked[0]?.body ?? "")).toMatchObject({
    to: "447700900123",
    tellUs: expect.stringMatching(
      new RegExp(`^${receipts}\\?token=[\\w-]{43}&reference=org_\\w+\\.msg_\\w+$`),
    ),
  });
  // All other numbers keep the carrier of the stage.
  expect(await send("15005550000")).toEqual({ status: "sent" });
  expect(await send("15005550002")).toEqual({ status: "failed", errorCode: "MESSAGE_UNROUTABLE" });
});

it("carriers are listed with their state, and shown without secrets", async () => {
  const list = await outputOf("carriers list");
  expect(list).toMatch(/^CARRIER +KIND +STATE +THROUGHPUT +ROUTES\nacme +http +enabled +30 +1\n$/);
  const shown = await outputOf("carriers show acme");
  expect(shown).toMatch(/^Carrier +acme\nKind +http\nState +enabled\nThroughput +30 segments a second\n/);
  expect(shown).toContain("Bearer {secret.token}");
  expect(shown).toMatch(/^Setting url +http:\S+$/m);
  const [fields = {}] = await jsonOf("carriers show acme", z.looseObject({}));
  expect(Object.keys(fields).filter((name) => /token|version|replies/i.test(name))).toEqual([]);
});

it("the address for inbound messages has the token, and the audit log names who requested it", async () => {
  const Shown = z.object({ inboundUrl: z.string() });
  const inboundUrl = async (): Promise<string> =>
    (await jsonOf("carriers show acme --callbacks", Shown))[0]?.inboundUrl ?? "";
  const before = await inboundUrl();
  expect(before).toMatch(new RegExp(`^${operated.gateway.url}/v1/carriers/acme/inbound\\?token=[\\w-]{43}$`));
  expect(await auditLog("carriers show")).toMatchObject([{ outcome: "done" }]);
  const status = async (url: string): Promise<number> => (await fetch(url)).status;
  // A call needs a valid token.
  expect(await status(before)).toBe(400);
  await outputOf(`${await set("acme")} --rotate-callback-token`);
  const after = await inboundUrl();
  expect(after).not.toBe(before);
  operated.gateway.advanceClock(minuteMs);
  // Receipts of earlier messages arrive at the address before for a week, or until it is rotated again.
  expect([await status(before), await status(after)]).toEqual([400, 400]);
  await outputOf(`${await set("acme")} --rotate-callback-token`);
  operated.gateway.advanceClock(minuteMs);
  const last = await inboundUrl();
  expect([await status(before), await status(after), await status(last)]).toEqual([404, 400, 400]);
});

it("settings are changed without the credentials, and credentials without a deploy", async () => {
  const moved = await change("acme", { url: `${carrier.url}/moved` });
  await outputOf(`${moved} --throughput none`);
  await send();
  expect(asked()).toEqual([["/moved", `Bearer ${token}`]]);
  expect(await outputOf("carriers list")).toMatch(/acme +http +enabled +- +1\n/);

  carrier.asked.length = 0;
  // From standard input, which leaves them in no file.
  const words = [...moved.split(" "), "--credentials", "-"];
  const env = { PATH: process.env["PATH"], DATA_DIR: operated.dataFolder };
  const child = spawn(process.execPath, ["infra/operator/main.ts", ...words], { env });
  child.stdin.end('{ "token": "another token" }');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  printed.push(out, err);
  expect(err).toBe("");
  await send();
  expect(asked()).toEqual([["/moved", "Bearer another token"]]);
});

it("within a minute a disabled carrier gets no messages, and the next one of their route does", async () => {
  // The only real carrier is that of the number.
  await outputOf(`numbers assign 447700900197 ${customer.email}`);
  expect(await outputOf("numbers list")).toMatch(/447700900197 .* acme\n447700900198 .* any carrier\n/);
  expect(await operator(await set("beta"))).toMatchObject({
    code: 0,
    err:
      "Replies to these numbers count from each carrier: 447700900198. " +
      "Bind each with: numbers assign NUMBER ORGANIZATION --carrier NAME\n",
  });
  for (const number of ["447700900198", "447700900197"]) await releaseNumber(number);
  await outputOf("routes set 44 --carriers acme,beta");
  expect(await outputOf("carriers disable acme")).toMatch(/State +disabled since /);
  await outputOf(await set("beta"));
  expect(await outputOf("carriers list")).toMatch(/acme +http +disabled since .* 1\nbeta +http +enabled /);
  await send();
  expect(carrier.asked.map(({ url }) => url.pathname)).toEqual(["/messages"]);
  // It stays disabled when its settings are changed.
  const moved = await change("acme", { url: `${carrier.url}/moved` });
  expect(await outputOf(moved)).toMatch(/State +disabled since /);
  expect(await outputOf("carriers enable acme")).toMatch(/State +enabled\n/);
  await send();
  expect(carrier.asked.map(({ url }) => url.pathname)).toEqual(["/messages", "/moved"]);
});

it("the route of a message is found: first by its type, then by the longest prefix", async () => {
  expect(await outputOf("routes set default --carriers beta")).toBe("default: beta\neverything else: beta\n");
  await outputOf("routes set 4477 --type otp --carriers 'beta, acme'");
  expect(await outputOf("routes list")).toMatch(
    /^PREFIX +TYPE +CARRIERS +CHANGED\ndefault +any +beta .*\n44 +any +acme, beta .*\n4477 +otp +beta, acme .*\neverything else: beta\n$/,
  );
  for (const [options, prefix] of [
    ["--to 447700900123 --type otp", "4477"],
    ["--to 447700900123", "44"],
    ["--to 4915112345678", ""],
    ["--type otp", "4477"],
  ]) {
    const found = await jsonOf(`routes list ${options}`, z.object({ prefix: z.string() }));
    expect(found, options).toEqual([{ prefix }]);
  }
  await outputOf("routes set default --type otp --carriers sandbox,beta");
  await outputOf("carriers disable beta");
  const rest = "the stage's carrier sandbox, which sends nothing";
  expect(await outputOf("routes remove default")).toBe(
    `the route default is removed\nits messages: otp: sandbox, then beta (disabled); transactional: ${rest}; marketing: ${rest}\n`,
  );
  await outputOf("carriers enable beta");
  await outputOf("routes remove default --type otp");
  expect(await outputOf("routes list --to 4915112345678")).toBe(
    `There is no route to this number: ${rest}.\n`,
  );
});

it("a carrier is tested with one message, and its response is shown without secrets in any form", async () => {
  const basic = {
    url: `${carrier.url}/messages?key={secret.token}`,
    basicAuthentication: { userName: "{secret.user}", password: "{secret.password}" },
    headers: {},
  };
  await outputOf(await set("acme", basic, { token, user: "a-user", password }));
  carrier.answer = (response, { url, headers }, body) => {
    const form = new URLSearchParams({ token }).toString();
    response.writeHead(200).end(JSON.stringify({ id: "it-1", url, headers, token, "as a form": form }));
    const { tellUs } = z.object({ tellUs: z.string() }).parse(JSON.parse(body));
    void fetch(tellUs, { method: "POST", body: new URLSearchParams({ status: "no", reason: "27" }) });
  };
  const test = "carriers test acme --to 447700900123";
  const tried = await outputOf(`${test} --from ACME --text Hello`);
  expect(tried).toMatch(/Outcome +accepted\nReference +it-1\n/);
  expect(tried).toMatch(/Receipt +undelivered DELIVERY_FAILED 27\nDuration/);
  expect(tried).toMatch(/Status +200\nResponse +\{"id":"it-1","url":"\/messages\?key=…"/);
  expect(tried).toContain('"authorization":"Basic …"');
  const message = { to: "447700900123", from: "ACME", text: "Hello" };
  expect(JSON.parse(carrier.asked[0]?.body ?? "")).toMatchObject(message);
  // No log has the recipient and the text of a test.
  const entries = await auditLog("carriers test");
  expect(entries).toHaveLength(1);
  expect(JSON.stringify(entries)).not.toMatch(/447700900123|Hello/);

  carrier.answer = says(422, "no");
  const rejected = await operator(test);
  expect(rejected).toMatchObject({ code: 1, err: "" });
  expect(rejected.out).toMatch(/Outcome +rejected\nCode +HTTP422\nReason +MESSAGE_PROVIDER_ERROR\n/);
  carrier.answer = says(500, "oh");
  expect((await operator(test)).out).toMatch(
    /Outcome +unknown\nReason +UnclearAnswer500\n(.*\n)*Status +500\nResponse +oh\n/,
  );
});

it("a carrier whose callbacks could not be read has warnings, also in its test", async () => {
  const { err } = await operator(await change("acme", { receipts: undefined, inbound: undefined }));
  const noReceipts =
    "Receipts of acme are rejected, and no message gets a result: add receipts to its settings.";
  expect(err).toBe(
    `${noReceipts}\nReplies through acme are rejected, and a STOP has no effect: add inbound to its settings.\n`,
  );
  expect(await outputOf("carriers test acme --to 447700900123")).toContain(noReceipts);
  const { err: noAddress } = await operator(await change("acme", { body: { to: "{to}", text: "{text}" } }));
  expect(noAddress).toBe("Receipts of acme belong to no message: add {callbackUrl} to its url or body.\n");
  await outputOf(await change("acme"));
});

it("an accepted test closes the breaker of a carrier that did not respond", async () => {
  const [openedAt, probeFailedAt] = ["2026-01-01T00:00:00.000Z", "2026-01-01T00:10:00.000Z"];
  const leaseUntil = "2099-01-01T00:00:00.000Z";
  const breaker = { entity: "breaker", openedAt, probeFailedAt, failedProbes: 3, leaseUntil } as const;
  await updateItem(z.unknown(), updateOf(keys.breaker("acme"), { set: breaker }));
  const state = `not responding since ${openedAt}, last probe: ${probeFailedAt}, next: ${leaseUntil}`;
  expect(await outputOf("carriers list")).toContain(state);
  carrier.answer = says(500, "no");
  await operator("carriers test acme --to 447700900123");
  expect((await readBreakers()).get("acme")).toMatchObject({ failedProbes: 3 });
  carrier.answer = says(200, JSON.stringify({ id: "carrier-1" }));
  const closed = await outputOf("carriers test acme --to 447700900123 --wait 1");
  expect(closed).toMatch(/Breaker +closed[^]*Receipt +none within 1 seconds. Repeat the test once/);
  expect(Object.keys((await readBreakers()).get("acme") ?? {}).toSorted()).toEqual(["entity", "sk"]);
  expect(await outputOf("carriers list")).not.toContain("not responding");
});

/** Runs a command that must be rejected and change nothing. @returns the reason */
async function reasonOf(line: string): Promise<string> {
  const before = await outputOf("audit-log --limit 1000 --json");
  const error = await rejectionOf(line);
  // An operator does not read a line that is longer than three of a terminal.
  expect(error.length).toBeLessThan(300);
  expect(await outputOf("audit-log --limit 1000 --json")).toBe(before);
  return error;
}

it.each([
  ["carriers set acme --settings /nowhere.json", "Cannot read the file /nowhere.json."],
  ["carriers show missing", "There is no carrier missing."],
  ["carriers disable missing", "There is no carrier missing."],
  ["carriers test missing --to 447700900123", "There is no carrier missing."],
  ["carriers remove missing", "There is no carrier missing."],
  ["carriers remove beta", "The route 44 uses beta: change the route first."],
  ["routes set 44 --carriers acme,missing", "There is no carrier missing: add it with carriers set."],
  ["routes remove 45", "There is no route 45."],
  ["routes remove 44 --type otp", "There is no route 44 (otp)."],
])("%s is rejected with the reason, and changes nothing", async (line, reason) => {
  expect(await reasonOf(line)).toContain(reason);
});

it.each([
  ["settings.json is not valid: line 1, column", `{ "kind": "http", "url": "${password}`, {}],
  ["url: must not have a user name", { kind: "kannel", url: `http://me:${password}@10.0.0.5/` }, {}],
  [
    "credentials.json is not valid: line 1, column 12:",
    { kind: "kannel", url: "http://10.0.0.5/" },
    `{ "token": ${password} }`,
  ],
  ["credentials are not valid", { kind: "kannel", url: "http://10.0.0.5/" }, { token: password }],
])("%s: nothing is changed, and no secret is shown", async (reason, settings, credentials) => {
  const files = [await fileOf(settings, "settings.json"), await fileOf(credentials, "credentials.json")];
  const line = `carriers set new --settings ${files.join(" --credentials ")}`;
  expect(await reasonOf(line)).toContain(reason);
});

it("a carrier without routes is deleted with its secrets, and without routes the stage's own carrier is used", async () => {
  await outputOf("routes set 44 --carriers acme");
  await outputOf("routes remove 4477 --type otp");
  const withoutRoutes = "There are no routes: all messages go to the carrier in the stage's file.\n";
  const rest = "the stage's carrier sandbox, which sends nothing";
  expect(await outputOf("routes remove 44")).toBe(
    `the route 44 is removed\nits messages: ${rest}\neverything else: ${rest}\n`,
  );
  expect(await outputOf("carriers remove acme")).toBe("acme is removed\n");
  expect(await outputOf("carriers remove beta")).toBe("beta is removed\n");
  expect(await outputOf("carriers list")).toBe(withoutRoutes);
  // The keys of the local payment provider remain.
  const stored = await readFile(path.join(operated.dataFolder, "operator-secrets.json"), "utf8");
  expect(Object.keys(Object(JSON.parse(stored)))).toEqual(["sms-gateway-local/payments/stripe"]);
  expect((await send("15005550000")).status).toBe("sent");
});

it("no command has shown a secret, and the audit log has none", async () => {
  await outputOf("audit-log --limit 1000 --json");
  const all = printed.join("\n");
  expect(all).toContain("carriers set");
  for (const secret of [token, "another token", password]) {
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")]) {
      expect(all).not.toContain(form);
    }
  }
});
