/*
 * Values that differ between recordings become constant ones.
 */

/** The id of a record, with its prefix. */
export const idPattern = /\b([a-z]{3})_[0-9A-HJKMNP-TV-Z]{26}T?\b/g;

/** The ids of saved cards, and the numbers of invoices. */
export const otherIdPattern = /\b(pm|INV)[_-][\w-]+/g;

/** The codes of a second factor in the examples: one of an app, and a recovery code. */
export const exampleCodes = { app: "123456", recovery: "K7QX-2MZD-A4TB-W3NE-5HJP-Q6YC" };

/** The address of a webhook in the examples; no such host can exist (RFC 2606). */
export const exampleWebhookUrl = "https://shop.example/sms-events";

/**
 * Returns the same examples with constant ids, times and secrets. They do not depend on the time of the recording or on
 * other examples: a new operation changes only its own.
 */
export function steady(
  examples: Readonly<Record<string, unknown>>,
  webhookUrl: string,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [name, steadyExample(example, webhookUrl)]),
  );
}

function steadyExample(example: unknown, webhookUrl: string): unknown {
  const text = JSON.stringify(example)
    .replaceAll(webhookUrl, exampleWebhookUrl)
    .replaceAll(/"eyJ[^"]+"/g, '"eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIs…"')
    .replaceAll(/\bnn_[0-9A-Za-z]{38}\b/g, `nn_${"Example0".repeat(5).slice(0, 38)}`)
    .replaceAll(/\bnn_[0-9A-Za-z]{4}…/g, "nn_Exam…")
    .replaceAll(/\bhook_[\w-]{43}/g, `hook_${"Example0".repeat(6).slice(0, 43)}`)
    .replaceAll(/"[^"]+(?=\/v1\/hooks\/)/g, '"https://sms.example.com')
    .replaceAll(/\(127\.0\.0\.1%3A\d+\)/g, "(sms.example.com)")
    .replaceAll(/\b[A-Z2-7]{32}\b/g, "EXAMPLE2".repeat(4))
    .replaceAll(/(?:\b[A-Z2-7]{4}-?){6}(?=")/g, exampleCodes.recovery)
    .replaceAll(/"(lastD|d)urationMs":\d+/g, '"$1urationMs":42')
    .replaceAll(/"commit":"[^"]+"/g, '"commit":"4f2a9c1e7b30"')
    .replaceAll(/\b(pi|pm)_\w+/g, "$1_1QExampleOfStripe")
    .replaceAll(/\b(INV|CRN)-\d{4}-/g, "$1-2026-")
    .replaceAll(/"(checkoutUrl)":"[^"]+"/g, '"$1":"https://checkout.stripe.com/c/pay/cs_1QExampleOfStripe"')
    .replaceAll(/"reference":"\w{10}"/g, '"reference":"5Z0EXAMPLE"')
    .replaceAll(/"requestId":"[^"]+"/g, '"requestId":"JKJaXmPLvHcESHA="')
    .replaceAll(
      /\bwhsec_[^"]+/g,
      `whsec_${Buffer.from("an example of a signing secret..").toString("base64")}`,
    );
  return JSON.parse(steadyDays(steadyTimes(steadyIds(text))));
}

/**
 * Numbers the ids of each kind in the order of their creation. Those of the same millisecond differ at random, and keep their
 * order in the example.
 */
function steadyIds(text: string): string {
  const kindAndMoment = (id: string): string => id.slice(0, "xxx_".length + 10);
  const ids = [...new Set(text.match(idPattern))].toSorted((one, other) =>
    kindAndMoment(one).localeCompare(kindAndMoment(other)),
  );
  // An event has the ULID of its message.
  const ulids = [...new Set(ids.map((id) => id.slice("xxx_".length, "xxx_".length + 26)))];
  return text.replaceAll(/(?<=\b[a-z]{3}_)[0-9A-HJKMNP-TV-Z]{26}(?=T?\b)/g, (ulid) => {
    return `01KE${String(ulids.indexOf(ulid) + 1).padStart(22, "0")}`;
  });
}

/** The fields whose time is a second or more after those of the same moment, because they are about what followed. */
const secondsAfter: Readonly<Record<string, number>> = {
  startedAt: 1,
  sentAt: 1,
  failedAt: 1,
  decidedAt: 1,
  succeededAt: 1,
  updatedAt: 1,
  timestamp: 1,
  lastAttemptAt: 2,
  endedAt: 3,
};

/** Times that are closer than this are of the same moment: how long the recorder takes between them varies. */
const sameMomentMs = 25_000;
const roundedToMs = 30_000;

/** Keeps the moments of times, and their distances in half minutes. Within a moment the name of a field decides its second. */
function steadyTimes(text: string): string {
  const pattern = /"(\w+)":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/g;
  const times = [...new Set([...text.matchAll(pattern)].map(([, , time = ""]) => time))].toSorted();
  const momentOf = new Map<string, number>();
  let before = Date.parse(times[0] ?? "");
  let at = Date.parse("2026-01-05T09:30:00.000Z");
  for (const time of times) {
    // The beginning of the next day, whose distance from the others varies.
    if (time.endsWith("T00:00:00.000Z")) continue;
    const distanceMs = Date.parse(time) - before;
    if (distanceMs >= sameMomentMs) at += Math.round(distanceMs / roundedToMs) * roundedToMs;
    before = Date.parse(time);
    momentOf.set(time, at);
  }
  return text.replaceAll(pattern, (_whole, field: string, time: string) => {
    const moment = momentOf.get(time);
    const ms = moment === undefined ? undefined : moment + (secondsAfter[field] ?? 0) * 1_000;
    return `"${field}":"${new Date(ms ?? "2026-01-06T00:00:00.000Z").toISOString()}"`;
  });
}

/** Keeps the distance of days from the newest one. */
function steadyDays(text: string): string {
  const pattern = /(?<=")\d{4}-\d\d-\d\d(?=")/g;
  const newest = text.match(pattern)?.toSorted().at(-1) ?? "";
  const shiftMs = Date.parse("2026-01-05") - Date.parse(newest);
  return text.replaceAll(pattern, (day) =>
    new Date(Date.parse(day) + shiftMs).toISOString().slice(0, "yyyy-mm-dd".length),
  );
}
