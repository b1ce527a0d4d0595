import type { ApiError } from "../../api/contract/errors.ts";
import type { SendSmsRequest } from "../../api/contract/sms.ts";

/** The length of an error's text in a result: a thousand of them fit in the item of the Idempotency-Key. */
const maxTextLength = 200;

/** One message of a batch. Its text is an error if it cannot be made. */
export interface BatchEntry extends Omit<SendSmsRequest, "message"> {
  readonly message: ApiError | string;
}

/** Returns the text of an error about one message. */
export function textOf({ message, details }: ApiError): string {
  const texts = details?.map((each) => `${each.path}: ${each.message}`);
  return (texts?.join("; ") ?? message).slice(0, maxTextLength).toWellFormed();
}
