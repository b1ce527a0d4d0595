import type { DocumentRecord } from "./record.ts";

/** Renders a document as a PDF. The same document always has the same bytes. */
export async function renderPdf(document: DocumentRecord): Promise<Uint8Array> {
  const { drawDocument } = await import("./pdf-drawing.ts");
  return drawDocument(document);
}
