import * as z from "zod";

import { Tag } from "./contacts.ts";
import { Currency, idSchema, text, Timestamp } from "./primitives.ts";
import { Language, MessageType, SenderId, SendSmsRequest } from "./sms.ts";

/** Whom a campaign goes to. Contacts that have opted out are left out in any case. */
const Audience = z
  .object({
    /** These contacts, each once. */
    contactIds: z.array(idSchema("con")).min(1).max(1_000).optional(),
    /** The contacts that have at least one of these tags. */
    tags: z.array(Tag).min(1).max(20).optional(),
    /** All contacts. */
    all: z.literal(true).optional(),
  })
  .refine(
    ({ contactIds, tags, all }) => [contactIds, tags, all].filter((each) => each !== undefined).length === 1,
    "must have exactly one of contactIds, tags and all",
  );
export type Audience = z.infer<typeof Audience>;

export const CreateCampaignRequest = z
  .object({
    name: text(100).min(1, "must not be empty"),
    /** The text, which may have placeholders like a template. Either this or `templateId`. */
    message: SendSmsRequest.shape.message.optional(),
    /** A template whose text is taken as it is now. */
    templateId: idSchema("tpl").optional(),
    audience: Audience,
    senderId: SenderId.optional(),
    language: Language.default("English"),
    messageType: MessageType.default("marketing"),
    /** Without a time the campaign is a draft until it is launched. */
    scheduledAt: SendSmsRequest.shape.scheduledAt,
  })
  .refine(({ message, templateId }) => (message === undefined) !== (templateId === undefined), {
    path: ["message"],
    error: "must be given, or else templateId, and not both",
  });
export type CreateCampaignRequest = z.infer<typeof CreateCampaignRequest>;

/**
 * `draft` until it is launched, `scheduled` until its time; `sending` until all its messages have come to their
 * end, then `completed`. `cancelled` and `failed` campaigns accept no more messages, and those that were accepted
 * before go their way.
 */
export const CampaignStatus = z.enum(["draft", "scheduled", "sending", "completed", "cancelled", "failed"]);

/** Why a campaign failed. It can be launched again, and goes on behind the last contact that it reached. */
export const CampaignErrorCode = z.enum(["INSUFFICIENT_BALANCE", "WALLET_MISSING"]);
export type CampaignErrorCode = z.infer<typeof CampaignErrorCode>;

const CampaignProgress = z.object({
  /** Messages that were accepted and paid so far; the other counts are of these. */
  accepted: z.int(),
  queued: z.int(),
  sent: z.int(),
  failed: z.int(),
  /** Contacts that got no message. */
  skipped: z.object({
    optedOut: z.int(),
    /** A placeholder of the text has no value for them, or their text became too long. */
    unrenderable: z.int(),
    /** Of `contactIds`: there is no such contact. */
    unknown: z.int(),
  }),
  /** The prices of the accepted messages. What is returned for those that failed is not taken off. */
  charged: z.number(),
  currency: Currency,
});

export const Campaign = z.object({
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
  senderId: z.string(),
  language: Language,
  messageType: MessageType,
  progress: CampaignProgress,
  createdAt: Timestamp,
  scheduledAt: Timestamp.optional(),
  startedAt: Timestamp.optional(),
  endedAt: Timestamp.optional(),
});
export type Campaign = z.infer<typeof Campaign>;
