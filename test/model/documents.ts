import PDFDocument from "pdfkit";

import { PdfSheet } from "../../shared/money/invoices/pdf-sheet.ts";
import { AwsError } from "../../shared/platform/aws/errors.ts";
import { GetObjectCommand, PutObjectCommand, S3 } from "../../shared/platform/aws/s3.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { replace } from "./replace.ts";

// The code imports these files when it needs them, and a file that is read takes real time.
await import("../../shared/money/invoices/pdf-drawing.ts");
await import("../../shared/platform/aws/objects.ts");

/** A bucket in memory. An object is written once. */
export class MemoryBucket {
  readonly keys = new Set<string>();

  /** @throws AwsError for an object that exists */
  put(key: string): void {
    if (this.keys.has(key)) throw new AwsError({ name: "PreconditionFailed" });
    this.keys.add(key);
  }
}

/**
 * Replaces S3, and the drawing of PDFs, which takes longer than all else. Objects have no content.
 * @param put writes an object
 * @param has whether an object exists
 * @returns what restores them
 */
export function storeDocuments(
  put: (key: string) => Promise<void>,
  has: (key: string) => Promise<boolean>,
): () => void {
  process.env[environmentNames.documentsBucket] = "memory";
  const nothing = (): void => undefined;
  const restores = [
    replace(S3.prototype, "send", async (command: object) => {
      if (command instanceof PutObjectCommand) {
        await put(command.input.Key);
        return {};
      }
      const isThere = command instanceof GetObjectCommand && (await has(command.input.Key));
      if (!isThere) throw new AwsError({ name: "NoSuchKey" });
      return { Body: new Uint8Array() };
    }),
    ...["write", "rule", "breakBefore"].map((method) => replace(PdfSheet.prototype, method, nothing)),
    replace(PdfSheet.prototype, "finish", async () => new Uint8Array()),
    replace(PDFDocument.prototype, "initFonts", nothing),
    replace(PDFDocument.prototype, "registerFont", function registerFont(this: object) {
      return this;
    }),
  ];
  return () => {
    for (const restore of restores) restore();
  };
}
