import * as z from "zod/mini";

import { readSenderIds, type SenderIdRecord } from "../../shared/messages/sender-ids/record.ts";
import { decideSenderId, listPendingSenderIds } from "../../shared/messages/sender-ids/review.ts";
import { findKyc, type KycRecord } from "../../shared/tenancy/kyc/record.ts";
import { decideKyc, listPendingKyc } from "../../shared/tenancy/kyc/review.ts";
import type { Decision } from "../../shared/tenancy/reviews.ts";
import { command, flag, Organization, part, PublicReason, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { AllowLookAlikes, guardAgainstLookAlikes } from "./look-alikes.ts";
import { organizationBatches, readOrganization } from "./organization.ts";
import { listOf, type Columns, type Output } from "./output.ts";

/*
 * Reviews of customers' KYC submissions and requested sender IDs.
 */

const maxListed = 1_000;

const Submission = z.object({
  organization: Organization,
  submissionId: part("<kyc>", "submission ID, as shown by kyc list", RequiredText),
});
const SenderIdRequest = z.object({
  organization: Organization,
  senderId: part("<name>", "sender ID, or the ID of its request, as shown by sender-ids list", RequiredText),
});
const kycList = command({
  name: "kyc list",
  summary: "List pending KYC submissions, oldest first",
  examples: ["", "--stage prod --json"],
  discloses: true,
  input: z.object({}),
  run: async (_, { output }) =>
    listRequests(output, listPendingKyc(), {
      SUBMITTED: "submittedAt",
      ORGANIZATION: "organizationId",
      ID: "id",
      COUNTRY: "country",
      BUSINESS: "businessName",
    }),
});

const kycShow = command({
  name: "kyc show",
  summary: "Show an organization's KYC submission",
  examples: ["ada@example.com"],
  discloses: true,
  input: z.object({ organization: Organization }),
  run: async ({ organization }, { output }) => {
    const submission = await submissionOf((await readOrganization(organization)).id);
    output.result(submission, submissionText(submission));
  },
});

const kycApprove = command({
  name: "kyc approve",
  summary: "Approve an organization's KYC submission",
  examples: ["ada@example.com kyc_01M7Y6EGDXHA99AE471ACHQK57 --stage prod"],
  asksFirst: true,
  input: Submission,
  run: async (input, context) => decideOnKyc(input, { approved: true }, context),
});

const kycReject = command({
  name: "kyc reject",
  summary: "Reject a KYC submission, or withdraw its approval",
  details: "The organization can submit another one.",
  examples: ["ada@example.com kyc_01M7Y6EGDXHA99AE471ACHQK57 --reason 'Unknown registration number'"],
  asksFirst: true,
  input: z.extend(Submission, { reason: PublicReason }),
  run: async ({ reason, ...input }, context) => decideOnKyc(input, { approved: false, reason }, context),
});

const senderIdsList = command({
  name: "sender-ids list",
  summary: "List pending sender IDs, oldest first, or all approved ones",
  examples: ["", "--stage prod --json", "--approved"],
  input: z.object({ approved: flag("--approved", "list approved sender IDs, by organization") }),
  run: async ({ approved }, { output }) =>
    listRequests(
      output,
      approved ? listApprovedSenderIds() : listPendingSenderIds(),
      {
        REQUESTED: "createdAt",
        ORGANIZATION: "organizationId",
        ID: "id",
        "SENDER ID": "senderId",
        "USE CASE": "useCase",
      },
      approved ? "approved" : "pending",
    ),
});

async function* listApprovedSenderIds(): AsyncGenerator<SenderIdRecord> {
  for await (const ids of organizationBatches()) {
    const records = (await Promise.all(ids.map(readSenderIds))).flat();
    yield* records.filter(({ status }) => status === "approved");
  }
}

const senderIdsApprove = command({
  name: "sender-ids approve",
  summary: "Approve a sender ID",
  details:
    "Register it with the carrier first. The organization's first sender ID becomes its default. A sender ID belongs to one " +
    "organization, in upper or lower case, unless you use --shared. If it resembles another organization's sender ID or a " +
    "well-known name, the command shows these and needs --allow-look-alikes.",
  examples: [
    "ada@example.com ADASHOP --stage prod",
    "ada@example.com ADASHOP --shared",
    "ada@example.com sid_01M7Y6EGDXHA99AE471ACHQK57 --allow-look-alikes",
  ],
  asksFirst: true,
  input: z.extend(SenderIdRequest, {
    shared: flag("--shared", "approve it although another organization has it"),
    allowLookAlikes: AllowLookAlikes,
  }),
  run: async ({ shared: isShared, allowLookAlikes, ...input }, context) =>
    decideOnSenderId(input, { approved: true, isShared, allowLookAlikes }, context),
});

const senderIdsReject = command({
  name: "sender-ids reject",
  summary: "Reject a sender ID, or withdraw its approval",
  details:
    "Other organizations can then use the sender ID. If the stage requires approved sender IDs, its unsent messages fail and " +
    "are refunded.",
  examples: ["ada@example.com ADASHOP --reason 'Another company'"],
  asksFirst: true,
  input: z.extend(SenderIdRequest, { reason: PublicReason }),
  run: async ({ reason, ...input }, context) => decideOnSenderId(input, { approved: false, reason }, context),
});

async function listRequests<Request extends object>(
  output: Output,
  pending: AsyncIterable<Request>,
  columns: Columns<Request>,
  state = "pending",
): Promise<void> {
  const requests: Request[] = [];
  let isWhole = true;
  for await (const request of pending) {
    isWhole = requests.length < maxListed;
    if (!isWhole) break;
    requests.push(request);
    output.progress(`${requests.length} read`);
  }
  output.table(requests, columns);
  output.note(isWhole ? `${requests.length} ${state}` : `first ${maxListed} shown; more are ${state}`);
}

async function submissionOf(organizationId: string): Promise<KycRecord> {
  const submission = await findKyc(organizationId);
  if (submission === undefined) throw new Error(`${organizationId} has no KYC submission.`);
  return submission;
}

async function decideOnKyc(
  { organization, submissionId }: z.infer<typeof Submission>,
  decision: Decision,
  context: Context,
): Promise<void> {
  const { id } = await readOrganization(organization);
  const submission = await submissionOf(id);
  const what = `${verbOf(decision)} this submission:\n${submissionText(submission)}`;
  await context.confirm(what, { organizationId: id, before: { status: submission.status } });
  const decided = await decideKyc(id, submissionId, decision);
  context.changed({ status: decided.status });
  context.output.result(decided, `${id} is ${decided.status}`);
}

type SenderIdDecision =
  | { readonly approved: true; readonly isShared: boolean; readonly allowLookAlikes: boolean }
  | Extract<Decision, { readonly approved: false }>;

async function decideOnSenderId(
  { organization, senderId }: z.infer<typeof SenderIdRequest>,
  decision: SenderIdDecision,
  context: Context,
): Promise<void> {
  const { id, name } = await readOrganization(organization);
  const wanted = senderId.toLowerCase();
  // An organization has one request for each sender ID, in upper or lower case.
  const record = (await readSenderIds(id)).find(
    (each) => each.id === senderId || each.senderId.toLowerCase() === wanted,
  );
  if (record === undefined) throw new Error(`${id} has not requested ${senderId}.`);
  if (decision.approved) {
    const asked = { organizationId: id, senderId: record.senderId, areAccepted: decision.allowLookAlikes };
    await guardAgainstLookAlikes(asked, context);
  }
  const isShared = decision.approved && decision.isShared;
  const what = `${verbOf(decision)} the sender ID ${record.senderId} of ${name} (${id})`;
  const before = { senderId: record.senderId, status: record.status };
  await context.confirm(what, { organizationId: id, before });
  const decided = await decideSenderId(id, record.id, decision, { isShared });
  context.changed({ senderId: decided.senderId, status: decided.status });
  context.output.result(decided, `${decided.senderId} of ${id} is ${decided.status}`);
}

function verbOf({ approved }: Decision): string {
  return approved ? "approve" : "reject";
}

function submissionText(submission: KycRecord): string {
  return listOf({
    Organization: submission.organizationId,
    Submission: submission.id,
    Status: submission.status,
    Business: submission.businessName,
    Registration: submission.registrationNumber,
    Country: submission.country,
    Address: submission.address,
    Contact: submission.contactName,
    Website: submission.website,
    Submitted: submission.submittedAt,
    Decided: submission.decidedAt,
    Reason: submission.rejectionReason,
  });
}

export const reviewCommands = [
  kycList,
  kycShow,
  kycApprove,
  kycReject,
  senderIdsList,
  senderIdsApprove,
  senderIdsReject,
];
