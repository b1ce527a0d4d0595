import * as z from "zod/mini";

import { resumeOrganization, suspendOrganization } from "../../shared/accounts/organizations/suspension.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { readSenderIds, type SenderIdRecord } from "../../shared/messages/sender-ids/record.ts";
import { findWallet } from "../../shared/money/wallet/record.ts";
import { findSuppression } from "../../shared/notices/emails/suppression-record.ts";
import { maxShards, reshard } from "../../shared/platform/table/shards.ts";
import { findKyc, type KycRecord } from "../../shared/tenancy/kyc/record.ts";
import type { OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import {
  isOwnerVerified,
  readRights,
  type Rights,
} from "../../shared/tenancy/organizations/rights-record.ts";
import { findUser, toApiUser } from "../../shared/tenancy/users/record.ts";
import { command, count, OptionalReason, Organization, part, Reason } from "./command.ts";
import { change } from "./context.ts";
import { ledgerColumns, LedgerLimit, readNewestEntries, walletText } from "./ledger.ts";
import { readOrganization } from "./organization.ts";
import { listOf } from "./output.ts";
import { suppressionText } from "./suppressions.ts";

const show = command({
  name: "organizations show",
  summary: "Show an organization with its owner, wallet, KYC and sender IDs",
  examples: ["ada@example.com", "org_01M7Y6EGDXHA99AE471ACHQK57 --limit 100 --stage prod"],
  discloses: true,
  input: z.object({ organization: Organization, limit: LedgerLimit }),
  run: async (input, { output }) => {
    const organization = await readOrganization(input.organization);
    const { id, defaultSenderId } = organization;
    const { organizationId: _id, ...rights } = await readRights(id, { consistent: true });
    const { ownerId } = rights;
    const [user, wallet, kyc, senderIds] = await Promise.all([
      ownerId === undefined ? undefined : findUser(ownerId),
      findWallet(id),
      findKyc(id),
      readSenderIds(id),
    ]);
    const suppression = user === undefined ? undefined : await findSuppression(user.email);
    const ledger = wallet === undefined ? [] : await readNewestEntries(wallet, input.limit);
    const facts = listOf({
      Organization: id,
      Name: organization.name,
      Registered: organization.createdAt,
      State: stateText(organization),
      Owner: user === undefined ? "unknown" : `${user.email} (${user.id})`,
      Email: emailText(rights),
      Emails: suppression === undefined ? undefined : suppressionText(suppression),
      Wallet: wallet === undefined ? "none" : walletText(wallet),
      KYC: kycText(kyc, rights),
      "Sender IDs": senderIds.map((each) => senderIdText(each, defaultSenderId)).join(", ") || "none",
      "API keys": String(organization.apiKeyCount),
      Webhooks: String(organization.webhookCount),
    });
    output.result(
      {
        organization: { ...organization, ...rights },
        user: user === undefined ? null : toApiUser(user),
        emailSuppression: suppression ?? null,
        wallet: wallet ?? null,
        kyc: kyc ?? null,
        senderIds,
        ledger,
      },
      facts,
      ledger,
      ledgerColumns,
    );
  },
});

const resharding = command({
  name: "organizations reshard",
  summary: "Store an organization's messages and ledger in several shards",
  details:
    "For a customer who sends hundreds of messages a second: one shard accepts about 300 (see infra/SCALE.md). Existing " +
    "items stay where they are, so the number of shards can only grow. Lists then read all shards.",
  examples: ["ada@example.com 4", "ada@example.com 4 --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    shards: part("<shards>", `number of shards, from 1 to ${maxShards}`, count(maxShards)),
  }),
  run: async (input, { output, confirm }) => {
    const { id, name } = await readOrganization(input.organization);
    const { shards } = input;
    const what = `store new messages and ledger entries of ${name} (${id}) in ${shards} shards`;
    await confirm(what, { organizationId: id });
    await reshard(id, shards);
    output.result({ organizationId: id, shards }, `${id} has ${shards} shards`);
  },
});

const verifyEmail = command({
  name: "organizations verify-email",
  summary: "Mark the email of an organization's owner as verified",
  details:
    "Verify yourself that the address is theirs. A stage may require a verified email before it sends.",
  examples: ["ada@example.com", "ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization }),
  run: async (input, { output, confirm, changed }) => {
    const { id, name } = await readOrganization(input.organization);
    const { ownerId } = await readRights(id, { consistent: true });
    const owner = ownerId === undefined ? undefined : await findUser(ownerId, { consistent: true });
    if (owner === undefined) throw new Error(`${id} has no owner whose email could be verified.`);
    const what = `mark ${owner.email} as the verified email of the owner of ${name} (${id})`;
    const before = { userId: owner.id, emailVerifiedAt: owner.emailVerifiedAt };
    await confirm(what, { organizationId: id, before });
    const { id: userId, emailVerifiedAt } = await noteVerifiedEmail(id);
    changed({ userId, emailVerifiedAt });
    output.result({ organizationId: id, emailVerifiedAt }, `the email of ${id} is verified`);
  },
});

const suspend = command({
  name: "organizations suspend",
  summary: "Suspend an organization: block log-ins, API keys, sends and campaigns",
  details:
    "Messages that no carrier has yet fail when they are due, and are refunded. Webhooks still report these failures.",
  examples: ["ada@example.com --reason 'Ticket 4711: phishing' --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization, reason: Reason }),
  run: async ({ organization, reason }, context) => {
    const before = await readOrganization(organization);
    const { id, name } = before;
    const what = `suspend ${name} (${id}): ${reason}`;
    const apply = async (): Promise<OrganizationRecord> => suspendOrganization(id, reason);
    await change({ what, organizationId: id, before, apply, ...suspension }, context);
  },
});

const resume = command({
  name: "organizations resume",
  summary: "Resume a suspended organization; failed messages stay failed",
  examples: ["ada@example.com --reason 'Ticket 4711: not them' --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization, reason: OptionalReason }),
  run: async ({ organization }, context) => {
    const before = await readOrganization(organization);
    const { id, name } = before;
    const apply = async (): Promise<OrganizationRecord> => resumeOrganization(id);
    await change(
      { what: `resume ${name} (${id})`, organizationId: id, before, apply, ...suspension },
      context,
    );
  },
});

const suspension = {
  facts: ({ suspendedAt, suspendedReason }: OrganizationRecord) => ({ suspendedAt, suspendedReason }),
  text: (organization: OrganizationRecord) => `${organization.id} is ${stateText(organization)}`,
};

function stateText({ suspendedAt, suspendedReason = "no reason" }: OrganizationRecord): string {
  return suspendedAt === undefined ? "active" : `suspended since ${suspendedAt} (${suspendedReason})`;
}

/** Whether the owner's email is verified. Registration accepts any address. */
export function emailText(rights: Pick<Rights, "ownerId" | "verifiedUserIds">): string {
  return isOwnerVerified(rights) ? "verified" : "not verified";
}

/** The state of a KYC submission. Only the rights record, which customers cannot write, makes an approval valid. */
export function kycText(
  kyc: KycRecord | undefined,
  { kycApprovedAt }: Pick<Rights, "kycApprovedAt">,
): string {
  if (kyc === undefined) return "not submitted";
  const isUnconfirmed = kyc.status === "approved" && kycApprovedAt === undefined;
  return `${isUnconfirmed ? "not approved" : kyc.status} (${kyc.businessName})`;
}

function senderIdText({ senderId, status }: SenderIdRecord, defaultSenderId: string | undefined): string {
  return `${senderId} ${status}${senderId === defaultSenderId ? " (default)" : ""}`;
}

export const organizationCommands = [show, verifyEmail, suspend, resume, resharding];
