import {
  inboundMessage,
  InboundText,
  type CallbackReader,
  type Fields,
  type NumberOfCountry,
} from "./callback-reader.ts";
import { providerCodeOf } from "./provider-code.ts";
import type { SettingsOf } from "./settings.ts";

/**
 * Reads the callbacks of any carrier with an HTTP interface. Its settings define the fields and the meanings of their
 * values.
 */
export function httpCallbacks(
  { receipts, inbound }: SettingsOf<"http">,
  read?: NumberOfCountry,
): CallbackReader {
  return {
    receipt: (fields) => {
      if (receipts === undefined) return undefined;
      const said = textAt(fields, receipts.statusPath);
      if (said === undefined) return undefined;
      const reference = receipts.referencePath && textAt(fields, receipts.referencePath);
      const status = (["delivered", "undelivered", "unknown"] as const).find((word) =>
        receipts[word].includes(said),
      );
      const error = (receipts.errorPath && textAt(fields, receipts.errorPath)) ?? "";
      const errorCode = Object.hasOwn(receipts.errors, error) ? receipts.errors[error] : undefined;
      if (status === "undelivered") {
        const providerCode = providerCodeOf(error);
        return { reference, status, errorCode: errorCode ?? "DELIVERY_FAILED", providerCode };
      }
      return { reference, status: status ?? "pending" };
    },
    inbound: (fields) => {
      if (inbound === undefined) return undefined;
      const message = InboundText.safeParse(textAt(fields, inbound.textPath));
      const carrierId = inbound.idPath && textAt(fields, inbound.idPath);
      if (!message.success) return undefined;
      const [from, to] = [textAt(fields, inbound.fromPath), textAt(fields, inbound.toPath)];
      return inboundMessage({ carrierId, from, to, message: message.data }, read);
    },
  };
}

/** Returns the text, or the number as a text, at a path such as `message.0.status`; undefined where there is none. */
function textAt(fields: Fields, path: string): string | undefined {
  let value: unknown = fields;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    // The line before has found the property.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
