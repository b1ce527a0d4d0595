import * as z from "zod/mini";

import { BatchMessage, batchSize, SendBatchRequest, type BatchResult } from "../../api/contract/batches.ts";
import { ApiError, type ErrorDetail } from "../../api/contract/errors.ts";
import type { SendSmsRequest } from "../../api/contract/sms.ts";
import { validate } from "../../api/contract/validation.ts";
import { bytesOf, firstDetails } from "../../platform/http/kept-details.ts";

/** The bytes of an error's text, and of its details, in a result: a thousand of them fit in the item of the Idempotency-Key. */
const maxTextBytes = 120;
const maxDetailsBytes = 220;

/** One message of a batch. Its text is an error if it cannot be made. */
export interface BatchEntry extends Omit<SendSmsRequest, "message"> {
  readonly message: ApiError | string;
}

/** The body of a batch. In the mode `each`, a message that is not valid is its error. */
export const BatchBody = z
  .extend(SendBatchRequest, {
    messages: z.array(z.pipe(z.unknown(), z.transform(messageOrError))).check(...batchSize),
  })
  .check(({ value: { mode, messages }, issues }) => {
    if (mode === "each") return;
    for (const [index, each] of messages.entries()) {
      if (!(each instanceof ApiError)) continue;
      for (const { path, message } of each.details ?? []) {
        const inBody = ["messages", index, ...path.split(".").filter((name) => name !== "")];
        issues.push({ code: "custom", input: messages, path: inBody, message });
      }
    }
  });

export type BatchBody = z.infer<typeof BatchBody>;

/** A message that is not valid. The hash of its request has what was received, because errors may have other texts later. */
class InvalidMessage extends ApiError {
  readonly #received: unknown;

  constructor(received: unknown, details: readonly ErrorDetail[]) {
    super("VALIDATION_ERROR", { details });
    this.#received = received;
  }

  toJSON(): unknown {
    return this.#received;
  }
}

function messageOrError(received: unknown): ApiError | BatchMessage {
  const result = validate(BatchMessage, received);
  return result.success ? result.data : new InvalidMessage(received, result.details);
}

/** Returns the result of a message that was rejected. @param index its position in the batch */
export function rejectionOf(index: number, error: ApiError): BatchResult {
  const details = error.details && { details: firstDetails(error.details, maxDetailsBytes) };
  return { index, code: error.code, message: textOf(error), ...details };
}

/** Returns the text of an error about one message. */
export function textOf({ message, details }: ApiError): string {
  const texts = details?.map((each) => (each.path === "" ? each.message : `${each.path}: ${each.message}`));
  let text = (texts?.join("; ") ?? message).slice(0, maxTextBytes);
  while (bytesOf(text) > maxTextBytes) text = text.slice(0, -1);
  return text.toWellFormed();
}
