import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { sendEmail } from "../../shared/accounts/emails/send-email.ts";
import type { Contact } from "../../shared/api/contract/contacts.ts";
import type { CreateExportRequest } from "../../shared/api/contract/exports.ts";
import { listContacts } from "../../shared/audience/contacts/contacts.ts";
import { contactPuts, newContact } from "../../shared/audience/contacts/record.ts";
import { createExport } from "../../shared/figures/exports/create.ts";
import { csvOf } from "../../shared/figures/exports/csv.ts";
import { getExport, getExportPart } from "../../shared/figures/exports/read.ts";
import { ExportRecord, type ExportJob } from "../../shared/figures/exports/record.ts";
import { runExport } from "../../shared/figures/exports/run.ts";
import { EmailJob } from "../../shared/notices/emails/email-kinds.ts";
import { DynamoDb } from "../../shared/platform/aws/dynamodb.ts";
import { Ses } from "../../shared/platform/aws/ses.ts";
import { Sqs } from "../../shared/platform/aws/sqs.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { once } from "../../shared/platform/http/idempotency.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { deleteItem, putItem, putOf, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { between, oneOf, randomFrom, type Random } from "../chaos/random.ts";
import { advance } from "../support/clock.ts";
import {
  beginExport,
  csvOfExport,
  exporterId,
  exporterOf,
  runAll,
  storedExport,
  takeExportJobs,
} from "../support/exports.ts";
import { sentMessage } from "../support/message-records.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { openOrganization } from "../support/wallets.ts";

let organizationId: string;
beforeEach(async () => {
  vi.setSystemTime(new Date("2030-06-01T12:00:30Z"));
  await useOwnTable();
  await inAllShards(releaseScheduledJobs);
  organizationId = await openOrganization(1_000_000);
});

const texts = ["Ada", '=SUM("a")', "+49", "a,b;c", "line\r\nbreak", "", "Łódź 🦊", "-5", "@x"];
const names = ["city", "plan", "age", "note", "phoneNumber"];

/** Adds contacts with random texts and attributes. */
async function addContacts(count: number, random: Random = randomFrom(1)): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    // Later contacts come first in the list, so that attributes appear in the middle of it.
    const known = names.slice(0, index < count / 2 ? names.length : 2);
    const request = {
      phoneNumber: String(15_006_000_000 + index),
      firstName: oneOf(random, texts),
      optedOut: false,
      tags: random() < 0.3 ? ["vip", "a tag"] : [],
      attributes: Object.fromEntries(
        Array.from({ length: between(random, 0, 2) }, () => [oneOf(random, known), oneOf(random, texts)]),
      ),
    };
    await transact({ contact: contactPuts(await newContact(organizationId, request), request) });
  }
}

/** The file that the pages of the list result in. */
async function expectedContacts(filter: { tag?: string } = {}): Promise<string> {
  const rows: Contact[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await listContacts(organizationId, { page: 1, limit: 100, cursor, ...filter });
    rows.push(...page.rows);
    cursor = page.meta.nextCursor;
  }
  const fixed = ["phoneNumber", "firstName", "lastName", "tags", "optedOut", "createdAt"];
  const more = new Set(rows.flatMap(({ attributes }) => Object.keys(attributes)));
  const columns = [...fixed, ...[...more].filter((name) => !fixed.includes(name))];
  return csvOf([
    columns,
    ...rows.map(({ phoneNumber, firstName = "", lastName = "", tags, optedOut, createdAt, attributes }) => {
      const own = [phoneNumber, firstName, lastName, tags.join(", "), optedOut ? "yes" : "", createdAt];
      return columns.map((name, index) => own[index] ?? attributes[name] ?? "");
    }),
  ]);
}

it("an attempt that a later one took over makes no export, and is rejected", async () => {
  const actor = exporterOf(organizationId);
  const key = { organizationId, key: "k", content: 1 };
  const taken = once(key, async (attempt) => {
    advance(minuteMs);
    await once(key, async (later) => createExport(actor, { contacts: {} }, later));
    return createExport(actor, { contacts: {} }, attempt);
  });
  await expect(taken).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const [job, ...others] = await takeExportJobs();
  expect(others).toEqual([]);
  const { answer } = await once(key, async () => undefined);
  expect(answer).toMatchObject({ id: job?.exportId });
});

it("has the content of the list, for random contacts and in several runs", async () => {
  const seed = Number(process.env["EXPORTS_SEED"] ?? Math.floor(Math.random() * 1_000_000));
  // oxlint-disable-next-line no-console
  console.info(`EXPORTS_SEED=${seed}`);
  await addContacts(250, randomFrom(seed));
  for (const filter of [{}, { tag: "vip" }]) {
    const job = await beginExport(organizationId, { contacts: filter });
    await runAll(job);
    expect((await csvOfExport(job)).split("\r\n")).toEqual((await expectedContacts(filter)).split("\r\n"));
    const { status, rows, parts } = await storedExport(job);
    expect({ status, isFiltered: rows < 250 }).toEqual({ status: "ready", isFiltered: "tag" in filter });
    expect(parts).toBe(Math.ceil(rows / 100) || 1);
  }
});

it("of an empty list has only the names of the columns", async () => {
  const job = await beginExport(organizationId, {
    transactions: { type: "refund" },
  });
  await runAll(job);
  expect(await csvOfExport(job)).toMatch(/^createdAt,id,type,amount,[\w,]+,reference,verificationId\r\n$/);
  expect(await storedExport(job)).toMatchObject({ status: "ready", rows: 0, parts: 1 });
});

it("splits rows whose texts do not fit into one part", async () => {
  const random = randomFrom(2);
  const text = (): string =>
    Array.from({ length: 1_600 }, () => String.fromCodePoint(between(random, 0x4e00, 0x9000))).join("");
  for (let index = 0; index < 250; index += 1) {
    const record = sentMessage(organizationId, { message: text() });
    await putItem(putOf({ pk: `MESSAGES#${organizationId}`, sk: record.id }, record));
  }
  const job = await beginExport(organizationId, { messages: { status: "sent" } });
  await runAll(job);
  const { parts, rows } = await storedExport(job);
  expect(rows).toBe(250);
  expect(parts).toBeGreaterThan(3);
  expect((await csvOfExport(job)).trim().split("\r\n")).toHaveLength(251);
});

it("is complete although its first job is lost, and others cannot be queued at first", async () => {
  await addContacts(250);
  vi.spyOn(Sqs.prototype, "send").mockRejectedValue(new Error("the queue is down"));
  const { id: exportId } = await createExport(exporterOf(organizationId), { contacts: {} });
  vi.restoreAllMocks();
  advance(18 * minuteMs);
  await inAllShards(releaseScheduledJobs);
  const [job] = await takeExportJobs();
  expect(job).toEqual({ organizationId, exportId });
  if (job === undefined) return;
  for (let part = 1; part < 3; part += 1) {
    vi.spyOn(Sqs.prototype, "send").mockRejectedValue(new Error("the queue is down"));
    // The queue brings the job again.
    await expect(runExport(job, () => 0)).rejects.toThrow("the queue is down");
    vi.restoreAllMocks();
    expect(await storedExport(job)).toMatchObject({ status: "running", parts: part });
  }
  await runExport(job, () => 0);
  expect(await csvOfExport(job)).toBe(await expectedContacts());
});

it("reads for ten seconds of a run, because two workers have the exports of all customers", async () => {
  await addContacts(150);
  const job = await beginExport(organizationId, { contacts: {} });
  await runExport(job, () => 50_000);
  expect(await storedExport(job)).toMatchObject({ status: "running", rows: 100 });
  await runExport(job, () => 50_001);
  expect(await storedExport(job)).toMatchObject({ status: "ready", rows: 150 });
});

it("changes nothing twice by a job that crashed, that runs in parallel, or that comes late", async () => {
  await addContacts(150);
  const first = await beginExport(organizationId, { contacts: {} });
  // oxlint-disable-next-line typescript/unbound-method
  const send = DynamoDb.prototype.send;
  vi.spyOn(DynamoDb.prototype, "send").mockImplementation(async function crash(this: DynamoDb, command) {
    if (command.constructor.name === "TransactWriteCommand") throw new Error("it was ended");
    return Reflect.apply(send, this, [command]);
  });
  await expect(runExport(first, () => 0)).rejects.toThrow("it was ended");
  vi.restoreAllMocks();
  expect(await storedExport(first)).toMatchObject({ rows: 0, parts: 0 });
  await Promise.all([first, first, first].map(async (job) => runExport(job, () => 0)));
  const jobs = await takeExportJobs();
  expect(jobs).toEqual([first]);
  expect(await storedExport(first)).toMatchObject({ rows: 100, parts: 1 });
  for (const job of [first, ...jobs, first, ...jobs]) await runExport(job, () => 0);
  expect(await takeExportJobs()).toEqual([]);
  expect(await storedExport(first)).toMatchObject({ status: "ready", rows: 150, parts: 2 });
  expect(await csvOfExport(first)).toBe(await expectedContacts());
});

it("fails when it has too many rows, its list is deleted, or the organization is suspended", async () => {
  await addContacts(2);
  const begin = async (request: CreateExportRequest, rows = 0): Promise<ExportJob> => {
    const job = await beginExport(organizationId, request);
    const key = keys.export(organizationId, job.exportId);
    await updateItem(ExportRecord, updateOf(key, { set: { rows } }));
    return job;
  };
  const most = await begin({ contacts: {} }, 9_999_998);
  const failing = [await begin({ contacts: {} }, 9_999_999), await begin({ transactions: {} })];
  const suspended = await begin({ contacts: {} });
  await deleteItem(keys.wallet(organizationId));
  for (const job of [most, ...failing]) await runExport(job, () => 0);
  expect(await storedExport(most)).toMatchObject({ status: "ready", rows: 10_000_000 });
  const suspension = { set: { suspendedAt: new Date().toISOString() } };
  await updateItem(z.unknown(), updateOf(keys.organization(organizationId), suspension));
  await runExport(suspended, () => 0);
  for (const job of [...failing, suspended]) {
    expect(await storedExport(job)).toMatchObject({ status: "failed", parts: 0 });
  }
});

it("is not found a day later, and a job that comes then does nothing", async () => {
  const [ready, running] = [
    await beginExport(organizationId, { contacts: {} }),
    await beginExport(organizationId, { contacts: {} }),
  ];
  await runExport(ready, () => 0);
  advance(dayMs - 2_000);
  expect(await getExportPart(organizationId, ready.exportId, 1)).toHaveProperty("csv");
  for (const [{ exportId }, part] of [
    [ready, 2],
    [running, 1],
  ] as const) {
    await expect(getExportPart(organizationId, exportId, part)).rejects.toThrow("does not exist");
  }
  advance(2_000);
  await expect(getExport(organizationId, ready.exportId)).rejects.toThrow("does not exist");
  await expect(getExportPart(organizationId, ready.exportId, 1)).rejects.toThrow("does not exist");
  await runExport(running, () => 0);
  expect((await storedExport(running)).status).toBe("running");
});

it("is read as it is now, because its last part and its status are written together", async () => {
  const job = await beginExport(organizationId, { contacts: {} });
  await runExport(job, () => 0);
  const sent = vi.spyOn(DynamoDb.prototype, "send");
  await getExportPart(organizationId, job.exportId, 1);
  expect(sent.mock.calls.map(([{ input }]) => input)).toEqual([
    expect.objectContaining({ ConsistentRead: true }),
    expect.objectContaining({ ConsistentRead: true }),
  ]);
  vi.restoreAllMocks();
});

it("an organization begins at most 50 exports in a day", async () => {
  for (let count = 0; count < 50; count += 1) await beginExport(organizationId, { contacts: {} });
  await expect(beginExport(organizationId, { contacts: {} })).rejects.toMatchObject({ code: "RATE_LIMITED" });
});

it("sends one email to a person who began it, with a link to it", async () => {
  vi.stubEnv(environmentNames.apiUrl, "https://sms.example.com");
  vi.stubEnv(environmentNames.emailName, "Gateway");
  vi.stubEnv(environmentNames.emailFrom, "gateway@example.com");
  const user = { id: exporterId, organizationId, email: "ada@example.com", createdAt: "2026-01-01" };
  await putItem(putOf(keys.user(exporterId), { entity: "user", ...user, emailVerifiedAt: "2026-01-01" }));
  const job = await beginExport(organizationId, { contacts: {} });
  for (let run = 0; run < 2; run += 1) await runExport(job, () => 0);
  const jobs = z.array(EmailJob).parse(await takeJobs("emails"));
  expect(jobs).toEqual([
    { kind: "exportReady", id: job.exportId, userId: exporterId, exportId: job.exportId },
  ]);
  const send = vi.spyOn(Ses.prototype, "send").mockResolvedValue({});
  for (const email of [...jobs, ...jobs]) await sendEmail(email);
  expect(send).toHaveBeenCalledOnce();
  const link = new RegExp(`ada@example\\.com.*/console#/exports/${job.exportId}`, "s");
  expect(JSON.stringify(send.mock.calls[0]?.[0])).toMatch(link);
  const credential = { type: "apiKey", keyId: "key_1" } as const;
  await createExport({ ...exporterOf(organizationId), credential }, { contacts: {} });
  for (const ofKey of await takeExportJobs()) await runExport(ofKey, () => 0);
  expect(await takeJobs("emails")).toEqual([]);
});
