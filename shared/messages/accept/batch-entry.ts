import * as z from "zod/mini";

import { BatchMessage, batchSize, SendBatchRequest, type BatchResult } from "../../api/contract/batches.ts";
import { ApiError } from "../../api/contract/errors.ts";
import type { SendSmsRequest } from "../../api/contract/sms.ts";
import { validate } from "../../api/contract/validation.ts";

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

function messageOrError(message: unknown): ApiError | BatchMessage {
  const result = validate(BatchMessage, message);
  return result.success ? result.data : new ApiError("VALIDATION_ERROR", { details: result.details });
}

/** Returns the result of a message that was rejected. @param index its position in the batch */
export function rejectionOf(index: number, error: ApiError): BatchResult {
  let end = error.details?.length ?? 0;
  while (end > 0 && bytesOf(error.details?.slice(0, end)) > maxDetailsBytes) end -= 1;
  const details = end === 0 ? {} : { details: error.details?.slice(0, end) };
  return { index, code: error.code, message: textOf(error), ...details };
}

/** Returns the text of an error about one message. */
export function textOf({ message, details }: ApiError): string {
  let text = details?.map((each) => `${each.path}: ${each.message}`).join("; ") ?? message;
  while (bytesOf(text) > maxTextBytes) text = text.slice(0, -1);
  return text.toWellFormed();
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
