import { createHash } from "node:crypto";

import type { ObjectPlace } from "../../platform/aws/s3.ts";
import { config } from "../../platform/config.ts";
import { renderPdf } from "./pdf.ts";
import { DocumentRecord } from "./record.ts";

/*
 * The bucket outlives a table that is restored to an earlier moment. So it has each document as a PDF, its record under its
 * subject, and its number. A lost document is found again, and no number is used twice.
 */

/**
 * The payment or refund that a document is about. There is one document of a kind for it. A transfer has its reference, because
 * it is entered again with another id after a restore.
 */
type Subject = Pick<DocumentRecord, "kind" | "organizationId" | "paymentId" | "reference" | "refundId">;

/** Stores a document. Objects that exist stay as they are, so this may be repeated. */
export async function storeDocument(document: DocumentRecord): Promise<void> {
  const { writeOnce } = await import("../../platform/aws/objects.ts");
  const { number, organizationId, paymentId } = document;
  const write = async (at: ObjectPlace, content: object): Promise<void> =>
    writeOnce(at, Buffer.from(JSON.stringify(content)), "application/json");
  // The number comes first, so that no other document ever has the number of a stored PDF.
  await write(place(`numbers/${number}.json`), { organizationId, paymentId });
  await writeOnce(placeOf(document), await renderPdf(document), "application/pdf");
  await write(placeOfRecord(document), document);
}

/** Returns the document about a subject that was stored; undefined if there is none. */
export async function findStored(subject: Subject): Promise<DocumentRecord | undefined> {
  const { readObject } = await import("../../platform/aws/objects.ts");
  const bytes = await readObject(placeOfRecord(subject));
  if (bytes === undefined) return undefined;
  return DocumentRecord.parse(JSON.parse(Buffer.from(bytes).toString()));
}

/** Whether a stored document has the number. A document of an earlier release is found in its organization only. */
export async function isNumberStored(
  document: Pick<DocumentRecord, "number" | "organizationId">,
): Promise<boolean> {
  const { readObject } = await import("../../platform/aws/objects.ts");
  const places = [place(`numbers/${document.number}.json`), placeOf(document)];
  const found = await Promise.all(places.map(async (each) => readObject(each)));
  return found.some((bytes) => bytes !== undefined);
}

/** Returns the PDF of a document, or undefined if it is not stored. */
export async function readPdf(document: DocumentRecord): Promise<Uint8Array | undefined> {
  const { readObject } = await import("../../platform/aws/objects.ts");
  return readObject(placeOf(document));
}

function placeOf({ organizationId, number }: Pick<DocumentRecord, "number" | "organizationId">): ObjectPlace {
  return place(`${organizationId}/${number}.pdf`);
}

function placeOfRecord(subject: Subject): ObjectPlace {
  const { organizationId, paymentId, reference, kind, refundId = "payment" } = subject;
  const name = reference === undefined ? paymentId : createHash("sha256").update(reference).digest("hex");
  return place(`${organizationId}/${name}-${refundId}-${kind}.json`);
}

function place(Key: string): ObjectPlace {
  return { Bucket: config.documentsBucket(), Key };
}
