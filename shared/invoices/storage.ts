import type { ObjectPlace } from "../platform/aws/objects.ts";
import { config } from "../platform/config.ts";
import { renderPdf } from "./pdf.ts";
import type { DocumentRecord } from "./record.ts";

/** Stores the PDF of a document. A PDF that exists stays as it is, so this may be repeated. */
export async function storePdf(document: DocumentRecord): Promise<void> {
  const { writeOnce } = await import("../platform/aws/objects.ts");
  await writeOnce(placeOf(document), await renderPdf(document), "application/pdf");
}

/** Returns the PDF of a document, or undefined if it is not stored. */
export async function readPdf(document: DocumentRecord): Promise<Uint8Array | undefined> {
  const { readObject } = await import("../platform/aws/objects.ts");
  return readObject(placeOf(document));
}

function placeOf({ organizationId, number }: DocumentRecord): ObjectPlace {
  return { Bucket: config.documentsBucket(), Key: `${organizationId}/${number}.pdf` };
}
