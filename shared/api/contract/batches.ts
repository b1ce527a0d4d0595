import * as z from "zod/mini";

import { about, namedObject, namedStrictObject, withExample } from "./about.ts";
import { PhoneNumber } from "./phone-numbers.ts";
import { Currency, ErrorDetail, idSchema } from "./primitives.ts";
import { Language, SendSmsRequest } from "./sms.ts";
import { SendTemplateRequest } from "./templates.ts";
import { notNull } from "./validation.ts";

/** How many messages a batch may have. */
export const batchSize = [z.minLength(1), z.maxLength(1_000)] as const;

const templateId = about(
  z.optional(idSchema("tpl")),
  "The template of the text, in place of `message`. `values` has a value for each of its placeholders.",
);

/** The fields of a send that all messages of a batch can have in common. */
const Shared = z.extend(
  z.partial(z.omit(SendSmsRequest, { to: true, language: true, test: true }), { message: true }),
  {
    language: z.optional(Language),
    templateId,
  },
);

const BatchDefaults = z.extend(Shared, {}).register(z.globalRegistry, {
  id: "BatchDefaults",
  description: "The fields of messages that do not have their own.",
});

export const BatchMessage = z
  .extend(Shared, { to: PhoneNumber, values: z.optional(SendTemplateRequest.shape.values) })
  .register(z.globalRegistry, { id: "BatchMessage" });
export type BatchMessage = z.infer<typeof BatchMessage>;

export const SendBatchRequest = withExample(
  namedStrictObject("SendBatchRequest", {
    messages: about(z.array(BatchMessage).check(...batchSize), "1 to 1,000 messages."),
    defaults: z.optional(BatchDefaults),
    mode: notNull(z._default(z.enum(["each", "all"]), "each")).register(z.globalRegistry, {
      id: "BatchMode",
      description:
        "`each` accepts each message that can be accepted, also beside messages that are not valid. `all` accepts all or " +
        "none, and has at most 48 messages, or 32 if one has `scheduledAt`. If one is rejected, the response is its error, with the `index` of each in `details`.",
    }),
    test: SendSmsRequest.shape.test,
  }),
  {
    defaults: { senderId: "ADASHOP", messageType: "transactional" },
    messages: [
      { to: "15005550000", message: "Your order 1001 is on its way" },
      { to: "15005550007", message: "Your order 1002 is on its way" },
    ],
  },
);
export type SendBatchRequest = z.infer<typeof SendBatchRequest>;

export const BatchResult = namedObject("BatchResult", {
  index: about(z.int(), "The position in `messages`, from 0."),
  id: about(z.optional(idSchema("msg")), "Present if it was accepted."),
  code: about(
    z.optional(z.string()),
    "The code of the error that a single send would get. Present if it was rejected.",
  ),
  message: z.optional(z.string()),
  details: about(
    z.optional(z.array(ErrorDetail)),
    "The first fields of the message that are wrong, if it is not valid.",
  ),
});
export type BatchResult = z.infer<typeof BatchResult>;

export const AcceptedBatch = namedObject("AcceptedBatch", {
  id: idSchema("bat"),
  accepted: z.int(),
  rejected: z.int(),
  total: about(z.number(), "The price of all accepted messages."),
  currency: Currency,
  results: about(z.array(BatchResult), "One for each message, in their order."),
});
export type AcceptedBatch = z.infer<typeof AcceptedBatch>;

export const BatchEstimate = namedObject("BatchEstimate", {
  segments: z.int(),
  total: z.number(),
  currency: Currency,
  balance: about(z.number(), "Always 0 for test messages."),
  isCovered: about(z.boolean(), "Whether the balance covers the batch now."),
  rejected: about(z.array(BatchResult), "The messages that have no price, which are not in the sums."),
});
export type BatchEstimate = z.infer<typeof BatchEstimate>;
