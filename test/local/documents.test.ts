import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { DataServices } from "../../infra/local/data-services.ts";
import { LocalAws, type AwsResponse } from "../../infra/local/local-aws.ts";
import { Mailbox } from "../../infra/local/mailbox.ts";
import { LocalObjects } from "../../infra/local/objects.ts";
import { LocalSecrets } from "../../infra/local/secrets.ts";
import { renderPdf } from "../../shared/money/invoices/pdf.ts";
import { findStored, isNumberStored, readPdf, storeDocument } from "../../shared/money/invoices/storage.ts";
import { invoice } from "../support/invoices.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const each of running.splice(0).toReversed()) await each.stop();
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-documents-"));
  return async () => rm(folder, { recursive: true });
});

/** Starts the AWS of the local gateway, and lets this process be a function with these permissions on the bucket. */
async function start(
  allowed: Readonly<Record<string, string>>,
  dataFolder?: string,
  intercept?: (response: AwsResponse, operation: string) => AwsResponse,
): Promise<void> {
  const dataServices = await DataServices.start();
  running.push(dataServices);
  const aws = await LocalAws.start({
    dataServices,
    isSecret: true,
    mailbox: new Mailbox(),
    secrets: await LocalSecrets.open(undefined),
    objects: new LocalObjects(dataFolder),
    interceptor: async (request, next) => {
      const response = await next(request);
      return intercept === undefined ? response : intercept(response, request.operation);
    },
  });
  running.push(aws);
  const statements = Object.entries(allowed).map(([action, resource]) => ({
    Effect: "Allow" as const,
    Action: [`s3:${action}`],
    Resource: [`arn:aws:s3:::${resource}`],
  }));
  const rest = {
    bundleFile: "",
    environment: {},
    timeoutSeconds: 1,
    memoryMegabytes: 1,
    queuesForItself: false,
  };
  aws.allow({
    ...rest,
    name: "Worker",
    description: "Permissions: worker in infra/stack/permissions.txt",
    statements,
  });
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL_S3: aws.url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "Worker",
    AWS_SECRET_ACCESS_KEY: "local",
    DOCUMENTS_BUCKET: "Documents",
  })) {
    vi.stubEnv(name, value);
  }
}

const everything = { GetObject: "Documents/*", PutObject: "Documents/*", ListBucket: "Documents" };
const inFolder = (): string => folder;

describe.each([
  ["in the data folder", inFolder],
  ["in memory", () => undefined],
])("a PDF %s", (_, placeOf) => {
  it("is stored once, and read as it was", async () => {
    await start(everything, placeOf());
    await storeDocument(invoice());
    const first = await readPdf(invoice());
    expect(Buffer.from(await renderPdf(invoice())).equals(first ?? Buffer.alloc(0))).toBe(true);
    // A document never changes. If one did, its customer already has the first.
    await storeDocument(invoice({ totalMicros: 1_000_000 }));
    expect(await readPdf(invoice())).toEqual(first);
  });

  it("of a document that was not stored is undefined", async () => {
    await start(everything, placeOf());
    await storeDocument(invoice());
    expect(await readPdf(invoice({ number: "INV-2026-000043" }))).toBeUndefined();
    expect(await readPdf(invoice({ organizationId: "org_other" }))).toBeUndefined();
  });
});

it("a PDF is a file of the organization, and survives a restart", async () => {
  const statuses: number[] = [];
  await start(everything, folder, (response) => {
    statuses.push(response.status);
    return response;
  });
  const { organizationId, number } = invoice();
  await Promise.all([storeDocument(invoice()), storeDocument(invoice()), storeDocument(invoice())]);
  // On a busy machine, a write that was late is repeated.
  const rejected = statuses.filter((status) => status !== 200);
  expect([statuses.length - rejected.length, new Set(rejected)]).toEqual([3, new Set([412])]);
  expect(rejected.length).toBeGreaterThanOrEqual(6);
  const files = [`${number}.pdf`, `${invoice().paymentId}-payment-invoice.json`];
  expect((await readdir(path.join(folder, organizationId))).toSorted()).toEqual(files);
  const file = await readFile(path.join(folder, organizationId, `${number}.pdf`));
  expect(file.subarray(0, 5).toString()).toBe("%PDF-");
  await start(everything, folder);
  expect(file.equals((await readPdf(invoice())) ?? Buffer.alloc(0))).toBe(true);
});

it("a lost response to a write is no failure, because the repeated write finds the object", async () => {
  let writes = 0;
  await start(everything, folder, (response, operation) => {
    if (operation === "s3:PutObject" && (writes += 1) === 1) throw new Error("the response was lost");
    return response;
  });
  await storeDocument(invoice());
  expect(writes).toBe(4);
  expect(await readPdf(invoice())).toBeDefined();
});

it("a document is found by its payment or refund, and its number in all organizations", async () => {
  await start(everything);
  const note = invoice({ number: "CRN-2026-000042", kind: "credit_note", refundId: "rfd_1" });
  for (const document of [invoice(), note]) await storeDocument(document);
  expect(await findStored(invoice({ number: "another" }))).toEqual(invoice());
  expect(await findStored(note)).toEqual(note);
  expect(await findStored({ ...note, kind: "invoice" })).toBeUndefined();
  expect(await findStored(invoice({ paymentId: "pay_other" }))).toBeUndefined();
  expect(await isNumberStored(invoice({ organizationId: "org_other" }))).toBe(true);
  expect(await isNumberStored(invoice({ number: "INV-2026-000043" }))).toBe(false);
});

describe("a function's role must allow", () => {
  it.each([
    [{ GetObject: "Documents/*", ListBucket: "Documents" }],
    [{ ...everything, PutObject: "Other/*" }],
  ])("a write: %o does not", async (allowed) => {
    await start(allowed);
    await expect(storeDocument(invoice())).rejects.toThrow(
      "not authorized to perform s3:PutObject on Documents/numbers/INV-2026-000042.json. " +
        "Permissions: worker in infra/stack/permissions.txt",
    );
  });

  it("a read", async () => {
    await start({ PutObject: "Documents/*" });
    await storeDocument(invoice());
    await expect(readPdf(invoice())).rejects.toThrow("not authorized to perform s3:GetObject");
  });

  it("to list the bucket, or a missing object is denied as in AWS", async () => {
    await start({ GetObject: "Documents/*", PutObject: "Documents/*" });
    await storeDocument(invoice());
    expect(await readPdf(invoice())).toBeDefined();
    await expect(readPdf(invoice({ number: "INV-2026-000043" }))).rejects.toThrow("to list the bucket");
  });
});
