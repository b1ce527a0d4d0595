import type { BatchMessage, SendBatchRequest } from "../../api/contract/batches.ts";
import { ApiError, invalidField } from "../../api/contract/errors.ts";
import type { BatchBody, BatchEntry } from "../../messages/accept/batch-entry.ts";
import { keys } from "../../platform/table/keys.ts";
import { findTogether } from "../../platform/table/read.ts";
import { messageOf } from "./message.ts";
import { TemplateRecord } from "./record.ts";

/** Returns the messages of a batch with its defaults, and with their texts. Each template is read once. */
export async function entriesOf(
  organizationId: string,
  { messages, defaults = {}, test }: Pick<BatchBody, "defaults" | "messages" | "test">,
): Promise<(ApiError | BatchEntry)[]> {
  const complete = messages.map((each) => (each instanceof ApiError ? each : withDefaults(defaults, each)));
  const ids = new Set(complete.flatMap((each) => (each instanceof ApiError ? [] : (each.templateId ?? []))));
  const templateKeys = [...ids].map((id) => keys.template(organizationId, id));
  const rows = await findTogether(TemplateRecord, templateKeys);
  const bodies = new Map(rows.map(({ key, item }) => [key.sk, item?.body]));
  return complete.map((each) => {
    if (each instanceof ApiError) return each;
    const { values, templateId, message, language = "English", ...fields } = each;
    const body = templateId === undefined ? undefined : bodies.get(templateId);
    return { ...fields, language, test, message: textOf({ message, templateId, values, body }) };
  });
}

/** A text and a template, or a sender ID and a number, replace each other. */
function withDefaults(
  { message, templateId, senderId, from, ...others }: NonNullable<SendBatchRequest["defaults"]>,
  own: BatchMessage,
): BatchMessage {
  const hasText = own.message !== undefined || own.templateId !== undefined;
  const hasSender = own.senderId !== undefined || own.from !== undefined;
  const text = hasText ? {} : { message, templateId };
  return { ...others, ...text, ...(hasSender ? {} : { senderId, from }), ...own };
}

function textOf({
  message,
  templateId,
  values = {},
  body,
}: Pick<BatchMessage, "message" | "templateId" | "values"> & {
  readonly body: string | undefined;
}): ApiError | string {
  try {
    if (templateId === undefined) return message ?? invalidField("message", "is missing");
    if (message !== undefined) return invalidField("message", "must not be given together with templateId");
    if (body === undefined) return invalidField("templateId", "is no template of the organization");
    return messageOf(body, values);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
