import { beforeEach, expect, it, vi } from "vitest";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import { CreateContactRequest } from "../../shared/api/contract/contacts.ts";
import {
  createContact,
  deleteContact,
  getContact,
  updateContact,
} from "../../shared/audience/contacts/contacts.ts";
import { receiveInboundMessage, type ReceivedMessage } from "../../shared/messages/inbound/receive.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import {
  deleteOptOut,
  getOptOut,
  liftForOperator,
  listOptOuts,
  optOut,
} from "../../shared/messages/opt-outs/opt-outs.ts";
import { findOptOut } from "../../shared/messages/opt-outs/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { replyOf } from "../support/inbound-messages.ts";
import { allRows } from "../support/rows.ts";
import { putOrganization } from "../support/wallets.ts";

const phone = "447700900123";
const page = { page: 1, limit: 20 };

let organizationId: string;
let number: string;
let lastNumber = 12_025_550_100;
beforeEach(async () => {
  organizationId = newId("org");
  await putOrganization(organizationId);
  lastNumber += 1;
  number = String(lastNumber);
  await assignNumber({ number, organizationId });
});

function reply(message: string, fields: Partial<ReceivedMessage> = {}): ReceivedMessage {
  return replyOf({ from: phone, to: number, message, ...fields });
}

async function sourceOf(): Promise<string | undefined> {
  return (await findOptOut(organizationId, phone))?.source;
}

it("a job of START that is repeated or late lifts no STOP that was sent after it", async () => {
  await receiveInboundMessage(reply("STOP"));
  const start = reply("START");
  await receiveInboundMessage(start);
  const stop = reply("STOP");
  await receiveInboundMessage(stop);
  // The very same job: the queue delivers at least once.
  await receiveInboundMessage(start);
  expect(await sourceOf()).toBe("reply");
  const [late, later] = [reply("START"), reply("STOP")];
  await receiveInboundMessage(later);
  await receiveInboundMessage(late);
  expect(await sourceOf()).toBe("reply");
  expect((await listOptOuts(organizationId, page)).rows).toEqual([
    { phoneNumber: phone, source: "reply", createdAt: later.receivedAt },
  ]);
});

it("a job of STOP that is repeated or late undoes no START that was sent after it", async () => {
  const [stop, start] = [reply("STOP"), reply("START")];
  // Nothing is recorded of the number when START arrives.
  await receiveInboundMessage(start);
  await receiveInboundMessage(stop);
  await receiveInboundMessage(stop);
  expect(await sourceOf()).toBeUndefined();
  expect((await listOptOuts(organizationId, page)).rows).toEqual([]);
  expect(await findOptOut(organizationId, phone)).toBeUndefined();
  await expect(getOptOut(organizationId, phone)).rejects.toThrow("The resource does not exist");
});

it("STOP and START that are processed at the same time end with the later one, on the contact too", async () => {
  const { id } = await createContact(organizationId, CreateContactRequest.parse({ phoneNumber: phone }));
  for (const words of [
    ["STOP", "START", "STOP"],
    ["START", "STOP", "START"],
  ]) {
    await Promise.all(words.map((word) => reply(word)).map(async (each) => untilTaken(each)));
    const isOptedOut = words.at(-1) === "STOP";
    expect(await sourceOf()).toBe(isOptedOut ? "reply" : undefined);
    expect(await getContact(organizationId, id)).toMatchObject({ optedOut: isOptedOut });
  }
});

/** Processes an inbound message in as many attempts as the queue would make. */
async function untilTaken(said: ReceivedMessage): Promise<void> {
  await vi.waitFor(async () => receiveInboundMessage(said), { timeout: 10_000, interval: 1 });
}

it("an organization cannot lift a person's STOP, neither directly nor by a contact", async () => {
  const { id } = await createContact(organizationId, CreateContactRequest.parse({ phoneNumber: phone }));
  await optOut(organizationId, phone, "api");
  await receiveInboundMessage(reply("STOP"));
  await expect(deleteOptOut(organizationId, phone)).rejects.toMatchObject({ code: "OPT_OUT_BY_REPLY" });
  const optedIn = updateContact(organizationId, id, { optedOut: false });
  await expect(optedIn).rejects.toMatchObject({ code: "OPT_OUT_BY_REPLY" });
  await deleteContact(organizationId, id);
  const made = await createContact(organizationId, CreateContactRequest.parse({ phoneNumber: phone }));
  expect(made.optedOut).toBe(true);
  expect(await sourceOf()).toBe("reply");
  // After the person's STOP, the organization's own opt-out applies again, and the organization can lift it.
  await receiveInboundMessage(reply("START"));
  expect(await sourceOf()).toBe("api");
  await updateContact(organizationId, made.id, { optedOut: false });
  expect(await sourceOf()).toBeUndefined();
  expect(await getContact(organizationId, made.id)).toMatchObject({ optedOut: false });
});

it("the operator lifts the known STOP, and none that was sent after it", async () => {
  const [first, second] = [reply("STOP"), reply("STOP")];
  await receiveInboundMessage(first);
  expect(await liftForOperator(organizationId, phone)).toMatchObject({ source: "reply" });
  await receiveInboundMessage(first);
  expect(await sourceOf()).toBeUndefined();
  expect(await liftForOperator(organizationId, phone)).toBeUndefined();
  await receiveInboundMessage(second);
  expect(await sourceOf()).toBe("reply");
});

it("a number whose opt-out was lifted is erased completely", async () => {
  await receiveInboundMessage(reply("STOP"));
  await receiveInboundMessage(reply("START"));
  expect(await eraseNumber(organizationId, phone)).toMatchObject({ inbound: 2, optOutsKept: 0, left: 0 });
  const rows = await allRows();
  expect(JSON.stringify(rows.filter((row) => JSON.stringify(row).includes(organizationId)))).not.toContain(
    phone,
  );
});
