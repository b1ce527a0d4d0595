import type { SendSmsRequest } from "../contract/sms.ts";
import { unitPriceMicros } from "./rate-card.ts";
import type { MessageRecord } from "./record.ts";
import { segmentsOf } from "./segments.ts";

export type Quote = Pick<MessageRecord, "encoding" | "segments" | "totalMicros" | "unitPriceMicros">;

/** How a text travels to a destination, and what that costs. */
export function quote({ to, message, language }: Pick<SendSmsRequest, "language" | "message" | "to">): Quote {
  const { encoding, segments } = segmentsOf(message, { unicode: language === "Unicode" });
  const unitPrice = unitPriceMicros(to);
  return { encoding, segments, unitPriceMicros: unitPrice, totalMicros: unitPrice * segments };
}
