import { expect, it } from "vitest";

import { validationMessage } from "../../shared/api/contract/validation.ts";
import { checkCarrier } from "../../shared/carriers/manage.ts";
import type { CarrierRecord } from "../../shared/carriers/record.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { useOwnTable } from "../support/own-table.ts";

const password = "a-password";
const kannel = { kind: "kannel", url: "http://10.0.0.5/" };
const http = {
  kind: "http",
  url: "http://10.0.0.5/messages",
  headers: { Authorization: "Bearer {secret.token}" },
  body: { to: "{to}", text: "{text}", from: "{from}", tellUs: "{callbackUrl}" },
  responses: [{ meaning: "accepted", statuses: [200] }],
};
const token = { token: "x" };

/** Returns the problem of a carrier's settings or credentials. */
async function problemOf(given: unknown, credentials: unknown, name = "new"): Promise<string> {
  const settings = CarrierSettings.safeParse(given, { error: validationMessage });
  if (!settings.success) {
    const [issue] = settings.error.issues;
    return `${issue?.path.join(".")}: ${issue?.message}`;
  }
  return checkCarrier({ name, settings: settings.data, credentials }).then(
    () => "none",
    (error: unknown) => String(error),
  );
}

it.each<[problem: string, settings: object, credentials?: object]>([
  ["none", http, token],
  ["none", { kind: "sandbox" }, {}],
  ["kind: ", { kind: "smpp" }],
  ["kind: ", {}],
  ["url: ", { kind: "kannel" }],
  ["colour", { kind: "sandbox", colour: "red" }],
  ["url: must not have", { kind: "kannel", url: `http://me:${password}@10.0.0.5/` }],
  ["responses.0.meaning: ", { ...http, responses: [{ meaning: "ok", statuses: [200] }] }, token],
  ["new needs credentials.", kannel],
  ["The credentials are not valid: username: ", kannel, { token: password }],
  [
    "password: must be printable ASCII characters in one line",
    kannel,
    { username: "me", password: `${password}\nHost: x` },
  ],
  ["body: the placeholder {txt} has no value", { ...http, body: { to: "{to}", text: "{txt}" } }, token],
  [
    "headers: the placeholder {secret.key} has no value",
    { ...http, headers: { "X-Api-Key": "{secret.key}" } },
    token,
  ],
  ["headers: the placeholder {text} has no value", { ...http, headers: { "X-Text": "{text}" } }, token],
  [
    "responses: the placeholder {id} has no value",
    { ...http, responses: [{ meaning: "accepted", statuses: [200], text: "OK: {id}" }] },
    token,
  ],
  [
    "responses: put a space or another sign between {code} and {reference} in text",
    { ...http, responses: [{ meaning: "accepted", statuses: [200], text: "{any}{code}-{reference};{any}" }] },
    token,
  ],
  [
    "responses: values need a path",
    { ...http, responses: [{ meaning: "accepted", statuses: [200], values: [0] }] },
    token,
  ],
  ["{text} is missing in url and body", { ...http, body: { to: "{to}" } }, token],
  ["idempotent needs a {reference}", { ...http, idempotent: true }, token],
  [
    "url.password: move the secret to the credentials",
    { kind: "kannel", url: `http://10.0.0.5/?password=${password}` },
  ],
  [
    "headers.Authorization: move the secret to the credentials",
    { ...http, headers: { Authorization: `Bearer ${password}` } },
    token,
  ],
  [
    "body.apiKey: move the secret to the credentials",
    { ...http, body: { to: "{to}", text: "{text}", apiKey: password } },
    token,
  ],
  [
    "basicAuthentication.password: move the secret to the credentials",
    { ...http, basicAuthentication: { userName: "me", password } },
    token,
  ],
])("the problem is reported without a secret: %s %o", async (problem, settings, credentials) => {
  const reported = await problemOf(settings, credentials);
  expect(reported).toContain(problem);
  expect(reported).not.toContain(password);
});

it("a name belongs to the kind of its carrier, and the name of a kind to that kind", async () => {
  const [at, settings] = [new Date().toISOString(), CarrierSettings.parse(http)];
  const record: CarrierRecord = { entity: "carrier", name: "acme", settings, createdAt: at, updatedAt: at };
  await useOwnTable();
  await putItem(putOf(keys.carrier("acme"), record));
  const twilio = { kind: "twilio" };
  expect(await problemOf(twilio, { accountSid: "AC1", authToken: password }, "acme")).toContain(
    "acme is of the kind http: delete it first",
  );
  expect(await problemOf(http, token, "aws")).toContain("Only a carrier of the kind aws may have that name.");
});
