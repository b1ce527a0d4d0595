import * as z from "zod";

import { idSchema, text, Timestamp } from "./primitives.ts";
import { SendSmsRequest } from "./sms.ts";

const Name = text(100).min(1, "must not be empty");
const Body = text(1_600).min(1, "must not be empty");

export const CreateTemplateRequest = z.object({ name: Name, body: Body });
export type CreateTemplateRequest = z.infer<typeof CreateTemplateRequest>;

/** Fields that are not there stay as they are. */
export const UpdateTemplateRequest = z.object({ name: Name.optional(), body: Body.optional() });
export type UpdateTemplateRequest = z.infer<typeof UpdateTemplateRequest>;

export const Template = z.object({
  id: idSchema("tpl"),
  name: z.string(),
  body: z.string(),
  /** What a message must be given values for, in the order of their first appearance. */
  placeholders: z.array(z.string()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Template = z.infer<typeof Template>;

export const DeletedTemplate = z.object({ id: idSchema("tpl"), deleted: z.literal(true) });

const maxValues = 50;

/** A send whose message is the template's, with a value for each of its placeholders. */
export const SendTemplateRequest = SendSmsRequest.omit({ message: true }).extend({
  values: z
    .record(z.string(), text(1_600))
    .refine((values) => Object.keys(values).length <= maxValues, `must have at most ${maxValues} entries`)
    .default({}),
});
export type SendTemplateRequest = z.infer<typeof SendTemplateRequest>;
