import { AcceptedBatch, BatchEstimate, SendBatchRequest } from "../contract/batches.ts";
import { Estimate, EstimateSmsRequest } from "../contract/estimates.ts";
import { MessagesQuery } from "../contract/messages-query.ts";
import { sendErrors } from "../contract/send-errors.ts";
import { AcceptedMessage, Message, MessageParams, SendSmsRequest } from "../contract/sms.ts";
import type { Route } from "./route.ts";

export const sendSms = {
  method: "POST",
  path: "/v1/sms/send",
  summary: "Send a message: debit the wallet and queue it",
  description:
    "The response means that the message was accepted and charged, not that it was delivered. Follow it with webhooks or by " +
    "its id. A failed message is refunded.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  debits: true,
  body: SendSmsRequest,
  status: 202,
  data: AcceptedMessage,
  idempotent: true,
  errors: sendErrors,
} as const satisfies Route;

export const estimateSms = {
  method: "POST",
  path: "/v1/sms/estimate",
  summary: "Estimate the price of a message, without a charge",
  description:
    "It accepts the body of a send, and returns the number of segments, the price, and whether the balance covers it.",
  scope: "read",
  limitedKeys: true,
  testKeys: true,
  body: EstimateSmsRequest,
  data: Estimate,
  errors: ["DESTINATION_NOT_ALLOWED", "DESTINATION_NOT_PRICED", "MESSAGE_TOO_LONG", "WALLET_MISSING"],
} as const satisfies Route;

export const sendBatch = {
  method: "POST",
  path: "/v1/sms/batch",
  summary: "Send up to 1,000 messages, with a result for each",
  description:
    "A message that is rejected has the code that a single send would get, and the others are accepted. Send an " +
    "Idempotency-Key: if a request has no response, its repeat continues the batch and sends nothing twice.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  debits: true,
  body: SendBatchRequest,
  maxBodyKilobytes: 1_024,
  status: 202,
  data: AcceptedBatch,
  idempotent: true,
  errors: sendErrors,
} as const satisfies Route;

export const estimateBatch = {
  method: "POST",
  path: "/v1/sms/batch/estimate",
  summary: "Estimate the price of a batch, without a charge",
  description:
    "It accepts the body of a batch, and returns the sum of its messages, and those without a price.",
  scope: "read",
  limitedKeys: true,
  testKeys: true,
  body: SendBatchRequest,
  maxBodyKilobytes: 1_024,
  data: BatchEstimate,
  errors: ["WALLET_MISSING"],
} as const satisfies Route;

export const listSms = {
  method: "GET",
  path: "/v1/sms",
  summary: "List messages, newest first; filter by status or number",
  description: "Use webhooks instead of polling this list for new results.",
  scope: "read",
  testKeys: true,
  query: MessagesQuery,
  data: Message,
  paged: true,
} as const satisfies Route;

export const getSms = {
  method: "GET",
  path: "/v1/sms/{id}",
  summary: "Get a message and its status",
  description: "It has the attempts to submit the message, and its delivery once a receipt has arrived.",
  scope: "read",
  testKeys: true,
  params: MessageParams,
  data: Message,
} as const satisfies Route;

export const cancelSms = {
  method: "DELETE",
  path: "/v1/sms/{id}",
  summary: "Cancel a scheduled message before its time, and refund it",
  description: "A message that is already at a carrier cannot be cancelled.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  params: MessageParams,
  data: Message,
  errors: ["CONFLICT", "WALLET_MISSING"],
} as const satisfies Route;

export const routes = { sendSms, estimateSms, sendBatch, estimateBatch, listSms, getSms, cancelSms };
