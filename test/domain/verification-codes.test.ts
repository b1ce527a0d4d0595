import { beforeEach, expect, it, vi } from "vitest";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import { segmentsOf } from "../../shared/messages/message/segments.ts";
import { codeOf, newCode } from "../../shared/messages/message/verification-code.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { Secret } from "../../shared/platform/auth/secret.ts";
import { minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { checkVerification } from "../../shared/verifications/check.ts";
import { completeEnding } from "../../shared/verifications/end.ts";
import { deleteVerifications, eraseVerificationsOf } from "../../shared/verifications/erase.ts";
import { getVerification } from "../../shared/verifications/list.ts";
import { readToChange } from "../../shared/verifications/record.ts";
import { sendCode } from "../../shared/verifications/send.ts";
import { accept, only, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { recordLog } from "../support/log.ts";
import { recordOf, storedMessages } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { allRows } from "../support/rows.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { codeIn, number, sentTexts, setFee, startFor } from "../support/verifications.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, organizationOf } from "../support/wallets.ts";
import { openWebhook } from "../support/webhooks.ts";

const start = new Date("2030-06-01T12:00:00Z");
const keyOne = "the-first-key-of-the-stage-with-64-characters";
const keyTwo = "another-key-of-the-stage-with-64-characters";

let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime(start);
  await setFee(0);
  organizationId = await openOrganization(1_000_000);
});

async function check(fields: { id: string; code: string }) {
  const organization = await organizationOf(organizationId);
  return checkVerification(organization, ownerOf(organizationId), { profile: "default", ...fields });
}

it("no code is in the table, a log line, a job, an event, a message or a response", async () => {
  await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  const log = recordLog();
  const codes: string[] = [];
  const seen: unknown[] = [];
  for (const own of [undefined, "83641975", "QWERTY27"]) {
    const to = `1500555${1000 + codes.length}`;
    const started = await startFor(organizationId, { to, code: own });
    const jobs = await takeJobs("transactionalSends");
    const carrier = new ScriptedCarrier(accept);
    for (const job of jobs) await submitMessage(Object(job), only(carrier));
    const [{ text } = { text: "" }] = carrier.received;
    const code = codeIn(text);
    expect(code).toMatch(own ?? /^\d{6}$/);
    const [messageId = ""] = started.messageIds;
    const message = await recordOf({ organizationId, messageId });
    expect(message.segments).toBe(segmentsOf(text, { unicode: false }).segments);
    const wrong = await check({ id: started.id, code: "wrong" });
    advance(30 * secondMs);
    const again = await startFor(organizationId, { to, code: own });
    seen.push(started, jobs, wrong, again, await takeJobs("transactionalSends"));
    seen.push(
      await check({ id: started.id, code }),
      await getVerification(ownerOf(organizationId), started.id),
    );
    codes.push(code);
  }
  const events = await takeJobs("webhookDeliveries");
  expect(JSON.stringify(events)).toContain("verification.approved");
  const all = JSON.stringify([seen, events, await takeJobs("refunds"), await allRows(), log.text()]);
  for (const code of codes) expect(all).not.toMatch(new RegExp(`(?<![0-9A-Z])${code}(?![0-9A-Z])`));
});

it("a message has the price of its text with the code, whose placeholder is longer in GSM-7", async () => {
  const message = `${"x".repeat(154)}{code}`;
  const { id } = await startFor(organizationId, { to: number });
  const started = await readToChange(ownerOf(organizationId), id);
  const organization = await organizationOf(organizationId);
  const { messageIds } = await sendCode(organization, { ...started, text: message }, () => [], {});
  expect(await recordOf({ organizationId, messageId: messageIds.at(-1) ?? "" })).toMatchObject({
    message,
    segments: 1,
    totalMicros: 7_900,
    verificationId: id,
  });
});

it("codes are uniform, and follow from the id and the key", async () => {
  vi.spyOn(Secret.prototype, "value").mockResolvedValue(keyOne);
  const source = await newCode("ver_1", { length: 4 });
  const counts = Array.from({ length: 10 }, () => 0);
  const count = 5_000;
  for (let index = 0; index < count; index += 1) {
    for (const digit of await codeOf(`ver_${index}`, source))
      counts[Number(digit)] = (counts[Number(digit)] ?? 0) + 1;
  }
  // Six standard deviations of 20,000 digits.
  for (const each of counts) expect(Math.abs(each - 2_000)).toBeLessThan(255);
  expect(await codeOf("ver_1", source)).toBe(await codeOf("ver_1", { ...source }));
});

it.each([undefined, "83641975"])(
  "a rotation of the key keeps pending codes valid (own code: %s)",
  async (own) => {
    const value = vi.spyOn(Secret.prototype, "value").mockResolvedValue(keyOne);
    const { id } = await startFor(organizationId, { code: own });
    const code = codeIn((await sentTexts())[0]);
    value.mockResolvedValue(`keys ${keyTwo} ${keyOne}`);
    advance(30 * secondMs);
    await startFor(organizationId, { code: own });
    expect(codeIn((await sentTexts())[0])).toBe(code);
    expect(await check({ id, code })).toMatchObject({ valid: true });
  },
);

it("without the key of its code, a message waits, and a check is not decided", async () => {
  const value = vi.spyOn(Secret.prototype, "value").mockResolvedValue(keyOne);
  const { id, messageIds } = await startFor(organizationId);
  value.mockRejectedValue(new Error("the service is down"));
  const [job] = await takeJobs("transactionalSends");
  const carrier = new ScriptedCarrier(accept);
  await submitMessage(Object(job), only(carrier));
  expect(carrier.received).toEqual([]);
  expect(await recordOf({ organizationId, messageId: messageIds[0] ?? "" })).toMatchObject({
    status: "queued",
    unresolvedAttempts: 0,
  });
  await expect(check({ id, code: "123456" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  value.mockResolvedValue(keyOne);
  await submitMessage({ organizationId, messageId: messageIds[0] ?? "" }, only(carrier));
  expect(codeIn(carrier.received[0]?.text)).toMatch(/^\d{6}$/);
});

it("the erasure of a number reaches its verifications, and their fee still returns", async () => {
  await setFee(50_000);
  const { id, expiresAt: validUntil } = await startFor(organizationId, { metadata: { name: "Ada" } });
  await sentTexts();
  await eraseNumber(organizationId, number);
  const erased = await getVerification(ownerOf(organizationId), id);
  expect(erased).toMatchObject({ to: "[removed]", status: "pending" });
  const rows = (await allRows()).filter(({ pk }) => String(pk).includes(organizationId));
  expect(JSON.stringify(rows)).not.toMatch(/15005550007|Ada/);
  // Until the fee is returned, it keeps the organization from its end.
  expect(await deleteVerifications(organizationId)).toBe(1);
  advance(10 * minuteMs);
  await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  await completeEnding({ organizationId, verificationId: id, validUntil });
  expect(await getVerification(ownerOf(organizationId), id)).toMatchObject({
    status: "expired",
    pricing: { fee: 0 },
  });
  expect(await takeJobs("webhookDeliveries")).toEqual([]);
  expect(await deleteVerifications(organizationId)).toBe(0);
  expect((await storedMessages(organizationId)).length).toBe(1);
});

it("an erasure leaves no pointer to the number when it ends early, and keeps one to a later verification", async () => {
  await startFor(organizationId);
  advance(10 * minuteMs);
  let later: string | undefined;
  let isDown = false;
  interceptTableRequests(async (command, send) => {
    const isDelete = command.constructor.name === "DeleteCommand";
    if (!isDelete || !JSON.stringify(command).includes("VERIFYING#")) return send();
    if (isDown) throw new Error("The function ends here.");
    // It starts after the erasure has read the verifications.
    later ??= (await startFor(organizationId)).id;
    return send();
  });
  await eraseVerificationsOf(organizationId, number);
  expect((await startFor(organizationId)).id).toBe(later);
  isDown = true;
  await expect(eraseVerificationsOf(organizationId, number)).rejects.toThrow("ends here");
  isDown = false;
  await eraseVerificationsOf(organizationId, number);
  const rows = (await allRows()).filter(({ pk }) => String(pk).startsWith(`VERIFYING#${organizationId}`));
  expect(rows).toEqual([]);
});
