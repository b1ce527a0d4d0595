import * as z from "zod";

import { Tag } from "./contacts.ts";
import { Currency, idSchema, text, Timestamp } from "./primitives.ts";
import { ExpiresInSeconds, Language, MessageType, SenderId, SendSmsRequest } from "./sms.ts";

const Audience = z
  .strictObject({
    contactIds: z
      .array(idSchema("con"))
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: "These contacts, each once." }),
    tags: z
      .array(Tag)
      .min(1)
      .max(20)
      .optional()
      .meta({ description: "The contacts that have at least one of these tags." }),
    all: z.literal(true).optional().meta({ description: "All contacts." }),
  })
  .refine(
    ({ contactIds, tags, all }) => [contactIds, tags, all].filter((each) => each !== undefined).length === 1,
    "must have exactly one of contactIds, tags and all",
  )
  .meta({
    description: "Whom it goes to, said in one way. Contacts that have opted out are left out in any case.",
    oneOf: [{ required: ["contactIds"] }, { required: ["tags"] }, { required: ["all"] }],
  });
export type Audience = z.infer<typeof Audience>;

export const CreateCampaignRequest = z
  .strictObject({
    name: text(100).min(1, "must not be empty"),
    message: SendSmsRequest.shape.message.optional().meta({
      description:
        "The text, up to 1,600 characters, which may have placeholders like a template. Either this or `templateId`.",
    }),
    templateId: idSchema("tpl")
      .optional()
      .meta({ description: "A template whose text is taken as it is now." }),
    audience: Audience,
    senderId: SendSmsRequest.shape.senderId,
    language: Language.default("English"),
    messageType: MessageType.default("marketing").meta({
      description: "What the messages say they are. A campaign is handled as marketing whatever its type.",
    }),
    scheduledAt: SendSmsRequest.shape.scheduledAt.meta({
      description:
        "When to begin to send, up to 30 days ahead. Without it the campaign is a draft until it is launched.",
    }),
    expiresInSeconds: ExpiresInSeconds.optional().meta({
      description:
        "How long each message is worth sending, from 60 seconds to 72 hours after the campaign's worker accepted it. Once " +
        "that time is over it is not handed to a carrier; it fails with `MESSAGE_EXPIRED` and is refunded.",
    }),
  })
  .refine(({ message, templateId }) => (message === undefined) !== (templateId === undefined), {
    path: ["message"],
    error: "must be given, or else templateId, and not both",
  })
  .meta({
    id: "CreateCampaignRequest",
    oneOf: [{ required: ["message"] }, { required: ["templateId"] }],
    examples: [
      {
        name: "Autumn sale",
        message: "Hello {{firstName}}, the sale begins tomorrow.",
        audience: { tags: ["customers"] },
        senderId: "ADASHOP",
      },
    ],
  });
export type CreateCampaignRequest = z.infer<typeof CreateCampaignRequest>;

export const CampaignStatus = z
  .enum(["draft", "scheduled", "sending", "completed", "cancelled", "failed"])
  .meta({
    id: "CampaignStatus",
    description:
      "`draft` until it is launched, `scheduled` until its time; `sending` until all its messages have come to " +
      "their end, then `completed`. `cancelled` and `failed` campaigns accept no more messages, and those that " +
      "were accepted before go their way.",
  });

export const CampaignErrorCode = z
  .enum([
    "INSUFFICIENT_BALANCE",
    "WALLET_MISSING",
    "ORGANIZATION_SUSPENDED",
    "EMAIL_NOT_VERIFIED",
    "KYC_REQUIRED",
    "SENDER_ID_NOT_APPROVED",
  ])
  .meta({
    id: "CampaignErrorCode",
    description:
      "Why a campaign failed. It can be launched again, and goes on behind the last contact that it reached.",
  });
export type CampaignErrorCode = z.infer<typeof CampaignErrorCode>;

const CampaignProgress = z
  .object({
    accepted: z.int().meta({
      description: "Messages that were accepted and paid so far; the other counts of messages are of these.",
    }),
    queued: z.int(),
    sent: z.int(),
    failed: z.int(),
    delivered: z.int().meta({ description: "Those that their phones got, as receipts say." }),
    undelivered: z.int().meta({ description: "Those that were sent and that their phones did not get." }),
    receiptRate: z.number().min(0).max(1).nullable().meta({
      description:
        "The share of the delivered among those that were delivered or not; null while there are none.",
    }),
    skipped: z
      .object({
        optedOut: z.int(),
        unrenderable: z.int().meta({
          description: "A placeholder of the text has no value for them, or their text became too long.",
        }),
        unknown: z.int().meta({ description: "Of `contactIds`: there is no such contact." }),
        destinationNotAllowed: z.int().optional().meta({
          description: "No messages are sent to numbers like theirs from here. Absent where there are none.",
        }),
        destinationNotPriced: z.int().optional().meta({
          description: "There is no price for numbers like theirs. Absent where there are none.",
        }),
        recipientRateExceeded: z.int().optional().meta({
          description:
            "Their numbers have got as much marketing of yours as they may get in a day. Absent where there are none.",
        }),
      })
      .meta({ description: "Contacts that got no message." }),
    charged: z.number().meta({
      description:
        "The prices of the accepted messages. What is returned for those that failed is not taken off.",
    }),
    currency: Currency,
  })
  .meta({ id: "CampaignProgress" });

export const CampaignParams = z.object({ id: idSchema("cmp") });

export const Campaign = z
  .object({
    id: idSchema("cmp"),
    name: z.string(),
    status: CampaignStatus,
    errorCode: CampaignErrorCode.optional(),
    message: z.string(),
    templateId: idSchema("tpl").optional(),
    audience: z.object({
      contactIds: z.array(idSchema("con")).optional(),
      tags: z.array(z.string()).optional(),
      all: z.literal(true).optional(),
    }),
    senderId: SenderId,
    language: Language,
    messageType: MessageType,
    expiresInSeconds: ExpiresInSeconds.optional(),
    progress: CampaignProgress,
    createdAt: Timestamp,
    scheduledAt: Timestamp.optional(),
    startedAt: Timestamp.optional(),
    waitsUntil: Timestamp.optional().meta({
      description:
        "Present while the daily spend cap keeps it from going on: it does so by itself at that time, or within a " +
        "quarter of an hour after the cap is raised.",
    }),
    endedAt: Timestamp.optional(),
  })
  .meta({ id: "Campaign" });
export type Campaign = z.infer<typeof Campaign>;
