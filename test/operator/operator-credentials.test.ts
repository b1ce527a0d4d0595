import { expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { minuteMs } from "../../shared/platform/clock.ts";
import { call, errorOf, password, type Customer } from "../support/api.ts";
import { emailsTo, tokenIn, waitForEmail, waitForSubject } from "../support/emails.ts";
import { runSchedule } from "../support/functions.ts";
import {
  auditLog,
  jsonOf,
  operator,
  operatorProcess,
  outputOf,
  queueEmptied,
  rejectionOf,
} from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

const operated = useOperatedGateway();

/** Registers a customer whose email is verified, so that they get notices. */
async function register(): Promise<Customer> {
  const customer = await operated.register({ balance: 5 });
  const token = tokenIn(await waitForEmail(operated.gateway, customer.email));
  const json = { token, password };
  expect((await call("/v1/auth/verify-email", { json, baseUrl: operated.gateway.url })).status).toBe(200);
  return customer;
}

/** The emails that the stops of all tests have to cause: the address, the subject, and the ID that the text names. */
const expected: [address: string, subject: string, id: string][] = [];

/** Returns an ID of the same kind that does not exist. */
const missing = (id: string): string => id.slice(0, 4) + id.slice(4).split("").toReversed().join("");

const Row = z.looseObject({ id: z.string(), status: z.string() });

it("a leaked key is disabled with its secret alone, and with it the keys that were made with it", async () => {
  const customer = await register();
  const { organizationId } = customer;
  const leaked = await customer.createApiKey();
  const other = await customer.createApiKey();
  const withKey = async (credential: string) => customer.call("/v1/wallet", { credential });
  const made = await customer.call("/v1/auth/api-keys", { json: {}, credential: leaked.secret });
  const { secret: madeSecret } = z.object({ data: z.object({ secret: z.string() }) }).parse(made.body).data;
  const webhook = { url: "http://127.0.0.1:9/", events: ["message.sent"] };
  await customer.call("/v1/webhooks", { json: webhook, credential: leaked.secret });

  const disable = "keys disable --secret-stdin --reason 'Found in a public repository' --json";
  const finding = `curl -H "Authorization: Bearer ${leaked.secret}" https://sms.example.com\r\n`;
  const first = await operatorProcess(operated.dataFolder, disable, {}, finding);
  expect(first).toMatchObject({ code: 0, err: "" });
  const result = JSON.parse(first.out);
  expect(result).toMatchObject({
    organizationId,
    keyId: leaked.id,
    others: 1,
    webhooks: [expect.stringMatching(/^whk_/)],
  });
  expect(errorOf(await withKey(leaked.secret))).toEqual({ status: 401, code: "UNAUTHORIZED" });
  expect((await withKey(madeSecret)).status).toBe(401);
  expect((await withKey(other.secret)).status).toBe(200);
  expect((await customer.call("/v1/wallet")).status).toBe(200);

  // A repetition changes nothing, and causes no second email.
  const again = await operatorProcess(operated.dataFolder, disable, {}, leaked.secret);
  expect(JSON.parse(again.out)).toMatchObject({ disabledAt: result.disabledAt, others: 0 });
  expected.push([customer.email, "An API key was disabled", leaked.id]);

  const rows = await jsonOf(`keys list ${customer.email}`, Row);
  expect(rows.map(({ status }) => status)).toEqual(["disabled", "active", "disabled"]);
  const [entry] = await auditLog("keys disable", organizationId);
  expect(entry).toMatchObject({ outcome: "done" });
  expect(JSON.stringify(entry)).toContain("Found in a public repository");
  expect(JSON.stringify([entry, first, rows])).not.toContain(leaked.secret);
});

it("a key is disabled by its ID, and nothing is done for an unclear or unknown one", async () => {
  const customer = await register();
  const stranger = await register();
  const { id } = await customer.createApiKey();
  const one = "Give a key with --organization, or --secret-stdin.";
  for (const line of [
    "keys disable",
    `keys disable ${id}`,
    `keys disable ${id} --organization ${customer.email} --secret-stdin`,
    `keys disable --organization ${customer.email} --secret-stdin`,
  ])
    expect(await rejectionOf(`${line} --reason x`)).toBe(one);
  expect(await rejectionOf(`keys disable ${id} --organization ${stranger.email} --reason x`)).toBe(
    `There is no API key ${id} of ${stranger.organizationId}.`,
  );
  expect((await operator(`keys disable nn_secret --organization ${customer.email} --reason x`)).code).toBe(2);
  const nothing = await operatorProcess(
    operated.dataFolder,
    "keys disable --secret-stdin --reason x",
    {},
    "none\n",
  );
  expect(nothing).toMatchObject({
    code: 1,
    err: "Standard input has no API key: nn_ and 38 letters and digits.\n",
  });
  // A placeholder is no key, and of two keys none is disabled.
  const secrets = [await customer.createApiKey(), await customer.createApiKey()].map(({ secret }) => secret);
  const several = `EXAMPLE=nn_${"x".repeat(38)}\n${secrets.join("\n")}\n`;
  const disable = "keys disable --secret-stdin --reason x";
  expect(await operatorProcess(operated.dataFolder, disable, {}, several)).toMatchObject({
    code: 1,
    err: expect.stringContaining("has several API keys"),
  });
  const rows = await jsonOf(`keys list ${customer.email}`, Row);
  expect(rows.map(({ status }) => status)).toEqual(["active", "active", "active"]);
  const key = rows.at(-1);
  expect(key).toMatchObject({ id, status: "active" });
  expect(await outputOf(`keys disable ${id} --organization ${customer.email} --reason x`)).toContain(
    `${id} is disabled since`,
  );
});

it("a login hook is disabled by its ID, which its address has", async () => {
  const customer = await register();
  const { id } = await customer.client.createHook({ body: { kind: "logto" } });
  await outputOf(`hooks disable ${id} --reason x`);
  expect((await customer.client.listHooks()).rows).toMatchObject([{ id, status: "disabled" }]);
  const { status } = await customer.call(`/v1/hooks/${id}`, { json: { to: "+15005550000" } });
  expect(status).toBe(401);
  expect(await rejectionOf(`hooks disable ${missing(id)} --reason x`)).toBe(
    "There is no such API key or hook. It may have been deleted.",
  );
  expected.push([customer.email, "A login hook was disabled", id]);
});

it("a webhook is disabled until the customer enables it, and one that is disabled keeps its reason", async () => {
  const receiver = await startWebhookReceiver();
  const customer = await register();
  const { client, organizationId, email } = customer;
  const { id } = await client.createWebhook({ body: { url: receiver.url, events: ["message.sent"] } });
  await customer.send();
  await receiver.waitForCalls(1);
  expect(await outputOf(`webhooks disable ${email} ${id} --reason x`)).toBe(`${id} is disabled\n`);
  expect(await outputOf(`webhooks disable ${email} ${id} --reason x`)).toBe(`${id} was disabled before\n`);
  const disabled = { status: "disabled", disabledReason: "by_operator" };
  expect(await client.getWebhook({ params: { id } })).toMatchObject(disabled);
  expect(await jsonOf(`webhooks list ${email}`, Row)).toMatchObject([{ id, ...disabled }]);
  const { id: unheard } = await customer.send();
  await vi.waitFor(async () => expect((await customer.message(unheard)).status).toBe("sent"), patience);

  await client.updateWebhook({ params: { id }, body: { enabled: true } });
  await customer.send();
  await receiver.waitForCalls(2);
  expect(receiver.calls.map(({ body }) => body).join()).not.toContain(unheard);
  await client.updateWebhook({ params: { id }, body: { enabled: false } });
  await outputOf(`webhooks disable ${email} ${id} --reason x`);
  expect(await client.getWebhook({ params: { id } })).toMatchObject({ disabledReason: "by_customer" });
  expected.push([email, "A webhook was disabled", id]);
  expect(await auditLog("webhooks disable", organizationId)).toHaveLength(3);
  expect(await rejectionOf(`webhooks disable ${email} ${missing(id)} --reason x`)).toBe(
    `There is no webhook ${missing(id)} of ${organizationId}.`,
  );
  await receiver.stop();
});

it("the users of an organization are listed, and one whose sessions the operator ends gets an email", async () => {
  const customer = await register();
  const { client, email } = customer;
  await client.inviteMember({ body: { email: `invited-${email}`, role: "viewer" } });
  const User = z.looseObject({ email: z.string(), status: z.string() });
  expect(await jsonOf(`users list ${email}`, User)).toMatchObject([
    { email, role: "owner", status: "active" },
    { email: `invited-${email}`, role: "viewer", status: "invited" },
  ]);
  await outputOf(`users end-sessions ${email} --reason 'Stolen laptop'`);
  expect((await customer.call("/v1/wallet")).status).toBe(401);
  expected.push([email, "You were logged out everywhere", ""]);
});

it("each of these stops has caused one email within twenty minutes", async () => {
  const { gateway } = operated;
  gateway.advanceClock(20 * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  for (const [address, subject, id] of expected)
    expect((await waitForSubject(gateway, address, subject)).text).toContain(id);
  await queueEmptied("emails");
  for (const [address, subject] of expected)
    expect(emailsTo(gateway, address).filter((email) => email.subject === subject)).toHaveLength(1);
});
