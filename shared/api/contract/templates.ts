import * as z from "zod/mini";

import { about, namedObject, withExample } from "./about.ts";
import { idSchema, text, Timestamp, messageText, Version } from "./primitives.ts";
import { SendSmsRequest } from "./sms.ts";

const Name = text(100).check(z.minLength(1, "must not be empty"));
const Body = about(
  messageText(1_600),
  "The text, with `{{name}}` where a value goes: a letter, then up to 31 letters, digits and underscores.",
);

export const CreateTemplateRequest = withExample(
  namedObject("CreateTemplateRequest", { name: Name, body: Body }),
  { name: "greeting", body: "Hello {{firstName}}, your order is on its way." },
);
export type CreateTemplateRequest = z.infer<typeof CreateTemplateRequest>;

export const UpdateTemplateRequest = z
  .strictObject({ name: z.optional(Name), body: z.optional(Body), version: z.optional(Version) })
  .register(z.globalRegistry, {
    id: "UpdateTemplateRequest",
    description: "Fields that are not there stay as they are.",
    examples: [{ name: "order sent" }],
  });
export type UpdateTemplateRequest = z.infer<typeof UpdateTemplateRequest>;

export const TemplateParams = z.object({ id: idSchema("tpl") });

export const Template = namedObject("Template", {
  id: idSchema("tpl"),
  name: z.string(),
  body: z.string(),
  placeholders: about(
    z.array(z.string()),
    "The placeholders that need a value, in the order of their first appearance.",
  ),
  version: Version,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Template = z.infer<typeof Template>;

export const DeletedTemplate = namedObject("DeletedTemplate", {
  id: idSchema("tpl"),
  deleted: z.literal(true),
});

const maxValues = 50;

/** A send whose message is the template's, with a value for each of its placeholders. */
export const SendTemplateRequest = z
  .extend(z.omit(SendSmsRequest, { message: true }), {
    values: z._default(
      z
        .record(z.string(), text(1_600))
        .check(
          z.refine(
            (values) => Object.keys(values).length <= maxValues,
            `must have at most ${maxValues} entries`,
          ),
        )
        .register(z.globalRegistry, {
          maxProperties: maxValues,
          description: "A value for each placeholder of the template, by its name.",
        }),
      {},
    ),
  })
  .register(z.globalRegistry, {
    id: "SendTemplateRequest",
    examples: [{ to: "15005550000", senderId: "ADASHOP", values: { firstName: "Grace" } }],
  });
export type SendTemplateRequest = z.infer<typeof SendTemplateRequest>;
