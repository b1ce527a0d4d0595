import { createHmac } from "node:crypto";

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { HookKind } from "../../shared/api/contract/hook-kinds.ts";
import { totpCode, totpStepAt } from "../../shared/platform/auth/totp.ts";
import { call, type Customer, password, type ApiResponse } from "../support/api.ts";
import { casesOf, type KindOf } from "../support/cases.ts";
import { bringAgain, emailsTo, tokenIn } from "../support/emails.ts";
import { hookHeaders } from "../support/hooks.ts";
import { HttpCarrier } from "../support/http-carrier.ts";
import { outputOf, queueEmptied } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The cases that need a gateway. `steps` are calls of programs and people, one after another.
 */

const operated = useOperatedGateway();
const ofTwilio = { accountSid: `AC${"0".repeat(32)}`, authToken: "0123456789abcdef0123456789abcdef" };

/** The number of the gateway at each carrier, and a phone number whose messages it gets. */
const numbers = {
  http: { own: "12025550101", phone: "33612345678" },
  kannel: { own: "12025550102", phone: "447700900123" },
  twilio: { own: "12025550103", phone: "12065550123" },
} as const;
const CarrierName = z.enum(["http", "kannel", "twilio"]);

let carrier: HttpCarrier;
let customer: Customer;
/** The values that each step of a case may name in braces. */
const shared: Record<string, string> = { password };
const tokens: Partial<Record<z.infer<typeof CarrierName>, string>> = {};
beforeAll(async () => {
  carrier = await HttpCarrier.start((response, { url = "" }) => {
    const body = url.includes("kannel")
      ? "0: Accepted for delivery"
      : JSON.stringify({ sid: "SM1", id: "1" });
    response
      .writeHead(url.includes("Accounts") ? 201 : 202, { "Content-Type": "application/json" })
      .end(body);
  });
  const inbound = { fromPath: "from", toPath: "to", textPath: "text", idPath: "id" };
  const settings = {
    kannel: { kind: "kannel", url: `${carrier.url}/kannel` },
    twilio: { kind: "twilio", url: carrier.url },
    http: {
      ...carrier.settings({ inbound, responses: [{ meaning: "accepted", statuses: [202] }] }),
      receipts: { statusPath: "status", delivered: ["DELIVRD"], undelivered: ["UNDELIV"] },
    },
  };
  customer = await operated.register({ balance: 100 });
  for (const [name, { own, phone }] of Object.entries(numbers)) {
    const file = await operated.fileOf(settings[CarrierName.parse(name)], "settings.json");
    const credentials = await operated.fileOf(
      name === "kannel" ? { username: "u", password: "p" } : ofTwilio,
      "credentials.json",
    );
    await outputOf(
      `carriers set ${name} --settings ${file}${name === "http" ? "" : ` --credentials ${credentials}`}`,
    );
    await outputOf(`routes set ${phone.slice(0, 4)} --carriers ${name}`);
    await outputOf(`numbers assign ${own} ${customer.organizationId} --carrier ${name} --yes`);
    const shown: unknown = JSON.parse(await outputOf(`carriers show ${name} --callbacks --json`));
    const { inboundUrl } = z.object({ inboundUrl: z.string() }).parse(shown);
    tokens[CarrierName.parse(name)] = new URL(inboundUrl).searchParams.get("token") ?? "";
  }
  Object.assign(shared, {
    token: customer.token,
    owner: customer.email,
    test: (await customer.client.createApiKey({ body: { test: true } })).secret,
    live: (await customer.client.createApiKey({ body: {} })).secret,
  });
});
afterAll(async () => carrier.stop());

let made = 0;
let attempts = 0;

/** Values that no other case has. */
function newValues(): Record<string, string> {
  made += 1;
  const place = String(made).padStart(3, "0");
  const phone = `4477009${place.padStart(5, "0")}`;
  return {
    ...shared,
    url: operated.gateway.url,
    now: new Date().toISOString(),
    email: `ada-${place}@example.com`,
    otherEmail: `eve-${place}@example.com`,
    phone,
    national: `0${phone.slice(2)}`,
    spaced: `+44 ${phone.slice(2, 6)} ${phone.slice(6)}`,
    otherPhone: `447701${place.padStart(6, "0")}`,
  };
}

/** How a person types a code: `{code|spaced}`. */
const typings: Readonly<Record<string, (code: string) => string>> = {
  spaced: (code) => `${code.slice(0, 3)} ${code.slice(3)}`,
  arabic: (code) => code.replaceAll(/\d/g, (digit) => "٠١٢٣٤٥٦٧٨٩".charAt(Number(digit))),
  plain: (code) => code.toLowerCase().replaceAll("-", ""),
  broken: (code) => `${code.slice(0, 50)}=\r\n${code.slice(50)}`,
};

/** Fills in the values of a case. A text that is only `{name|number}` becomes a number. */
function filled<Value>(template: Value, values: Readonly<Record<string, string>>): Value {
  const text = JSON.stringify(template ?? null)
    .replaceAll(/"\{(\w+)\|number\}"/g, (_, name: string) => String(Number(values[name])))
    .replaceAll(/\{(\w+)(?:\|(\w+))?\}/g, (found, name: string, typing?: string) => {
      const value = values[name];
      if (value === undefined) return found;
      return JSON.stringify(typing === undefined ? value : (typings[typing]?.(value) ?? found)).slice(1, -1);
    });
  // The template has the same shape.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as Value;
}

const Names = z.record(z.string(), z.string());
const Call = z.strictObject({
  call: z.string(),
  as: z.optional(z.string()),
  body: z.optional(z.unknown()),
  raw: z.optional(z.string()),
  headers: z.optional(Names),
  /** A login system, which signs the call with its proof. */
  signedBy: z.optional(HookKind),
  proof: z.optional(z.string()),
  /** How many such calls are made at the same time. */
  times: z._default(z.int(), 1),
  /** The places of values that later steps name: in the response, or a header. */
  keep: z._default(Names, {}),
  /** The places of values that the case reports; `text` is the whole response. */
  show: z._default(z.array(z.string()), []),
});
const Steps = z.strictObject({
  steps: z.array(
    z.union([
      Call,
      /** The token of the newest email to an address that is none of the others. */
      z.strictObject({
        mail: z.string(),
        keep: z.string(),
        others: z._default(z.array(z.string()), []),
        show: z._default(z.array(z.enum(["from", "html", "text"])), []),
      }),
      z.strictObject({ find: z.string(), in: z.string(), keep: z.string() }),
      z.strictObject({ totp: z.string(), keep: z.string() }),
      z.strictObject({ operator: z.string() }),
      /** An event of the service that sends the emails. */
      z.strictObject({ feedback: z.record(z.string(), z.unknown()) }),
    ]),
  ),
});
type Step = z.infer<typeof Steps>["steps"][number];

/** Does one step. @returns what a person or program sees; undefined for a step that is only a preparation */
async function done(step: Step, values: Record<string, string>): Promise<string | undefined> {
  if ("mail" in step) {
    const { mail, token } = await vi.waitFor(() => {
      const all = emailsTo(operated.gateway, step.mail).map((each) => ({ mail: each, token: tokenIn(each) }));
      const found = all.find((each) => !step.others.includes(each.token));
      if (found === undefined) throw new Error(`no email has come to ${step.mail}`);
      return found;
    }, patience);
    values[step.keep] = token;
    return step.show.length === 0 ? undefined : step.show.map((part) => mail[part]).join(" ");
  }
  if ("find" in step) {
    const [found, part = found] = new RegExp(step.find, "s").exec(step.in) ?? [];
    values[step.keep] = part ?? "none";
    return undefined;
  }
  if ("totp" in step) {
    values[step.keep] = totpCode(step.totp, totpStepAt(new Date()));
    return undefined;
  }
  if ("operator" in step) return (await outputOf(step.operator)).trim().split("\n").at(-1);
  if ("feedback" in step) {
    await bringAgain(operated.gateway, step.feedback);
    return undefined;
  }
  const answers = await Promise.all(
    Array.from({ length: step.times }, async (_, index) => answerTo(filled(step, { index: String(index) }))),
  );
  const [answer] = answers;
  for (const [name, place] of Object.entries(step.keep)) values[name] = valueAt(answer, place);
  return answers
    .map((each) => [summaryOf(each), ...step.show.map((place) => valueAt(each, place))].join(" "))
    .toSorted()
    .join(", ");
}

async function answerTo({
  call: line,
  as,
  body,
  raw,
  headers,
  signedBy,
  proof = "",
}: z.infer<typeof Call>): Promise<ApiResponse> {
  const [method = "", path = ""] = line.split(" ");
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const signed =
    signedBy === undefined
      ? {}
      : await hookHeaders(signedBy, proof, { body: text ?? "", id: `msg_${(attempts += 1)}` });
  const baseUrl = operated.gateway.url;
  const options = {
    method,
    headers: { ...signed, ...headers },
    ...(text === undefined ? {} : { raw: text }),
  };
  if (path.startsWith("/v1")) {
    return call(path, { ...options, baseUrl, ...(as === undefined ? {} : { credential: as }) });
  }
  // The contract does not describe the pages, and MCP.
  const credential = as === undefined ? {} : { Authorization: `Bearer ${as}` };
  const response = await fetch(path.startsWith("/") ? `${baseUrl}${path}` : path, {
    method,
    redirect: "manual",
    headers: { "Content-Type": "application/json", ...credential, ...options.headers },
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  return { status: response.status, headers: response.headers, text: answer, body: parsed(answer) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The status of a response, with the code and the problems of an error. */
function summaryOf({ status, body }: ApiResponse): string {
  const { error } = z.catch(z.object({ error: z.optional(ErrorBody) }), {}).parse(body);
  if (error === undefined) return String(status);
  const details = error.details?.map(({ path, message }) => `${path} ${message}`).join("; ");
  return `${status} ${error.code ?? ""} ${details ?? error.message}`;
}

const ErrorBody = z.object({
  code: z.optional(z.string()),
  message: z.string(),
  details: z.optional(z.array(z.object({ path: z.string(), message: z.string() }))),
});

/** A value of a response at a place such as `data.messageIds.0`; `text` is the response, `header:NAME` a header. */
function valueAt(answer: ApiResponse | undefined, place: string): string {
  if (place === "text") return answer?.text ?? "";
  if (place.startsWith("header:")) return answer?.headers.get(place.slice("header:".length)) ?? "none";
  let value: unknown = answer?.body;
  for (const name of place.split(".")) value = Reflect.get(Object(value), name);
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "none");
}

const InboundCall = z.strictObject({
  carrier: z._default(CarrierName, "http"),
  query: z.string(),
  twice: z._default(z.boolean(), false),
});
const ReceiptCall = z.strictObject({
  carrier: z._default(CarrierName, "kannel"),
  receipts: z.array(z.union([z.string(), z.record(z.string(), z.string())])),
});

/** Calls a callback address of a carrier, as the carrier does. */
async function callBack(
  of: z.infer<typeof CarrierName>,
  {
    kind,
    query,
    form,
  }: { readonly kind: string; readonly query: string; readonly form?: Readonly<Record<string, string>> },
): Promise<number> {
  const address = `${operated.gateway.url}/v1/carriers/${of}/${kind}?token=${tokens[of]}&${query}`;
  if (form === undefined) return (await fetch(address)).status;
  const signed = Object.keys(form)
    .toSorted()
    .reduce((text, name) => text + name + form[name], address);
  const signature = createHmac("sha1", ofTwilio.authToken).update(signed).digest("base64");
  const headers = { "X-Twilio-Signature": signature };
  return (await fetch(address, { method: "POST", headers, body: new URLSearchParams(form) })).status;
}

/** One function for each kind of case. It returns what people, programs and carriers see. */
const kinds: Readonly<Record<KindOf<"system">, (input: unknown) => Promise<string>>> = {
  steps: async (input) => {
    const values = newValues();
    const reports: string[] = [];
    for (const step of Steps.parse(input).steps) {
      const report = await done(filled(step, values), values);
      if (report !== undefined) reports.push(report);
    }
    return reports.join("; ");
  },
  "inbound call": async (input) => {
    const { carrier: of, query, twice } = InboundCall.parse(input);
    const { phone = "", national = "", spaced = "" } = newValues();
    const filling: Readonly<Record<string, string>> = {
      P: phone,
      L: national,
      S: spaced,
      N: numbers[of].own,
      I: `i${phone}`,
    };
    const filledQuery = query.replaceAll(
      /%([PLSNI])(?![0-9A-Fa-f])/g,
      (_, name: string) => filling[name] ?? "",
    );
    const statuses = [await callBack(of, { kind: "inbound", query: filledQuery })];
    if (twice) statuses.push(await callBack(of, { kind: "inbound", query: filledQuery }));
    await queueEmptied("carrierCallbacks");
    const { rows } = await customer.client.listInbound({ query: { limit: 100 } });
    const shown = rows
      .filter(
        ({ from, message }) => from.includes(phone.slice(2)) || message.includes(phone) || from === "M&S",
      )
      .map(({ from, message }) => ({ from, message }));
    const optedOut = (await customer.call(`/v1/opt-outs/${phone}`)).status === 200;
    const sale = await customer.trySend({ to: phone, messageType: "marketing" });
    return `callback ${statuses.join(", ")}; inbound ${JSON.stringify(shown)}; opted out ${optedOut}; marketing then ${sale.status}`;
  },
  "receipt call": async (input) => {
    const { carrier: of, receipts } = ReceiptCall.parse(input);
    const { id } = await customer.send({ to: numbers[of].phone });
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    const statuses: number[] = [];
    for (const receipt of receipts) {
      const isUnknown = receipt === "unknown";
      const reference = `${customer.organizationId}.${isUnknown ? "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV" : id}`;
      const query = `reference=${reference}${typeof receipt === "string" ? `&${isUnknown ? "type=1" : receipt}` : ""}`;
      const form = typeof receipt === "string" ? {} : { form: { MessageSid: "SM1", ...receipt } };
      statuses.push(await callBack(of, { kind: "receipts", query, ...form }));
      await queueEmptied("carrierCallbacks");
    }
    const { status, delivery } = await customer.message(id);
    return `callbacks ${statuses.join(", ")}; message ${status}, delivery ${delivery?.status} ${delivery?.errorCode ?? ""}`;
  },
};

it.each(casesOf("system"))("$title", async ({ kind, input, expected }) => {
  expect(await kinds[kind](input)).toMatch(new RegExp(expected, "s"));
});
