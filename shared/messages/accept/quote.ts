import { ApiError } from "../../api/contract/errors.ts";
import type { SendSmsRequest } from "../../api/contract/sms.ts";
import type { Prices } from "../../money/prices/prices.ts";
import type { MessageRecord } from "../message/record.ts";
import { segmentsOf } from "../message/segments.ts";

export type Quote = Pick<MessageRecord, "encoding" | "segments" | "totalMicros" | "unitPriceMicros">;

/**
 * Returns the encoding and segments of a text to a destination, and its price.
 * @throws ApiError DESTINATION_NOT_PRICED
 */
export function quote(
  { to, message, language }: Pick<SendSmsRequest, "language" | "message" | "to">,
  prices: Prices,
): Quote {
  const unitPriceMicros = prices.unitPriceMicros(to);
  if (unitPriceMicros === undefined) throw new ApiError("DESTINATION_NOT_PRICED");
  const { encoding, segments } = segmentsOf(message, { unicode: language === "Unicode" });
  return { encoding, segments, unitPriceMicros, totalMicros: unitPriceMicros * segments };
}
