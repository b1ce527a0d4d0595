import * as z from "zod/mini";

import { findOrganization, type OrganizationRecord } from "../../shared/accounts/organization-record.ts";
import { isOwnerVerified, readRights, type Rights } from "../../shared/accounts/rights-record.ts";
import { resumeOrganization, suspendOrganization } from "../../shared/accounts/suspension.ts";
import { findUser, findUserByEmail, presentUser } from "../../shared/accounts/user-record.ts";
import { noteVerifiedEmail } from "../../shared/accounts/verification.ts";
import { ApiError } from "../../shared/contract/errors.ts";
import { findSuppression } from "../../shared/emails/suppression-record.ts";
import { findKyc, type KycRecord } from "../../shared/kyc/record.ts";
import { readSenderIds, type SenderIdRecord } from "../../shared/sender-ids/record.ts";
import {
  maxMessageParts,
  readWallet,
  spreadOrganization,
  type WalletRecord,
} from "../../shared/wallet/record.ts";
import { command, count, Organization, part, RequiredText, WhyAgain } from "./command.ts";
import { suppressionText } from "./emails.ts";
import { ledgerColumns, LedgerLimit, readNewestEntries, walletText } from "./ledger.ts";
import { listOf, tableOf } from "./output.ts";

/**
 * The organisation with an id, or that of the user who owns an email.
 * @throws Error when there is none
 */
export async function readOrganization(idOrEmail: string): Promise<OrganizationRecord> {
  const id = idOrEmail.includes("@")
    ? (await findUserByEmail(idOrEmail.toLowerCase()))?.organizationId
    : idOrEmail;
  const organization = id === undefined ? undefined : await findOrganization(id, { consistent: true });
  if (organization === undefined) throw new Error(`There is no organisation ${idOrEmail}.`);
  return organization;
}

const show = command({
  name: "organizations show",
  summary: "Show an organisation, its wallet and what it has",
  examples: ["ada@example.com", "org_01M7Y6EGDXHA99AE471ACHQK57 --limit 100 --stage prod"],
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
      Organisation: id,
      Name: organization.name,
      Registered: organization.createdAt,
      State: stateText(organization),
      User: user === undefined ? "not known" : `${user.email} (${user.id})`,
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
        user: user === undefined ? null : presentUser(user),
        emailSuppression: suppression ?? null,
        wallet: wallet ?? null,
        kyc: kyc ?? null,
        senderIds,
        ledger,
      },
      ledger.length === 0 ? facts : `${facts}\n\n${tableOf(ledger, ledgerColumns)}`,
    );
  },
});

const spread = command({
  name: "organizations spread",
  summary: "Keep an organisation's messages and ledger in several partitions of the table",
  details:
    "For one that sends hundreds of messages a second: a partition takes some 300 (see infra/SCALE.md). What is there " +
    "stays where it is, so there can only be more parts. Its lists then read all parts side by side.",
  examples: ["ada@example.com 4", "ada@example.com 4 --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    parts: part("<parts>", `how many, from 1 to ${maxMessageParts}`, count(maxMessageParts)),
  }),
  run: async (input, { output, confirm }) => {
    const { id, name } = await readOrganization(input.organization);
    const what = `keep the messages and the ledger of ${name} (${id}) in ${input.parts} parts from now on`;
    await confirm(what, { organizationId: id });
    await spreadOrganization(id, input.parts);
    output.result({ organizationId: id, messageParts: input.parts }, `${id} has ${input.parts} parts`);
  },
});

const verifyEmail = command({
  name: "organizations verify-email",
  summary: "Note that the email of an organisation's owner is theirs",
  details: "You have made sure of it. A stage may want that before it sends anything for them.",
  examples: ["ada@example.com", "ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization }),
  run: async (input, { output, confirm, changed }) => {
    const { id, name } = await readOrganization(input.organization);
    const { ownerId } = await readRights(id, { consistent: true });
    const owner = ownerId === undefined ? undefined : await findUser(ownerId, { consistent: true });
    if (owner === undefined) throw new Error(`${id} has no owner whose email could be verified.`);
    const what = `note that ${owner.email} is the email of the owner of ${name} (${id})`;
    const before = { userId: owner.id, emailVerifiedAt: owner.emailVerifiedAt };
    await confirm(what, { organizationId: id, before });
    const { id: userId, emailVerifiedAt } = await noteVerifiedEmail(id);
    changed({ userId, emailVerifiedAt });
    output.result({ organizationId: id, emailVerifiedAt }, `the email of ${id} is verified`);
  },
});

const suspend = command({
  name: "organizations suspend",
  summary: "Stop a customer at once: log-ins, keys, sends, what is scheduled, and campaigns",
  details:
    "What was accepted and has not been handed to the carrier fails and is refunded when its time comes. What a webhook " +
    "has to hear of it, it hears.",
  examples: ["ada@example.com --reason 'Ticket 4711: phishing' --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    reason: part("--reason <text>", "why; kept for the next operator, not shown to customers", RequiredText),
  }),
  run: async ({ organization, reason }, { output, confirm, changed }) => {
    const found = await readOrganization(organization);
    const { id, name } = found;
    const what = `suspend ${name} (${id}): nothing of theirs is let in or sent: ${reason}`;
    await confirm(what, { organizationId: id, before: suspensionOf(found) });
    const suspended = await suspendOrganization(id, reason);
    changed(suspensionOf(suspended));
    output.result(suspended, `${id} is ${stateText(suspended)}`);
  },
});

const resume = command({
  name: "organizations resume",
  summary: "Let a suspended customer go on; what has failed meanwhile stays failed",
  examples: ["ada@example.com --reason 'Ticket 4711: not them' --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization, reason: WhyAgain }),
  run: async ({ organization }, { output, confirm, changed }) => {
    const found = await readOrganization(organization);
    const what = `let ${found.name} (${found.id}) go on`;
    await confirm(what, { organizationId: found.id, before: suspensionOf(found) });
    const resumed = await resumeOrganization(found.id);
    changed(suspensionOf(resumed));
    output.result(resumed, `${found.id} is ${stateText(resumed)}`);
  },
});

function suspensionOf({ suspendedAt, suspendedReason }: OrganizationRecord): Record<string, unknown> {
  return { suspendedAt, suspendedReason };
}

function stateText({ suspendedAt, suspendedReason = "no reason" }: OrganizationRecord): string {
  return suspendedAt === undefined ? "active" : `suspended since ${suspendedAt} (${suspendedReason})`;
}

/** Whether it is known that the email of an organisation's owner is theirs: anybody can register with any. */
export function emailText(rights: Pick<Rights, "ownerId" | "verifiedUserIds">): string {
  return isOwnerVerified(rights) ? "verified" : "not verified";
}

/** The state of an organization's KYC submission. An approval is one if the rights have it, which customers cannot write. */
export function kycText(
  kyc: KycRecord | undefined,
  { kycApprovedAt }: Pick<Rights, "kycApprovedAt">,
): string {
  if (kyc === undefined) return "nothing submitted";
  const isUnconfirmed = kyc.status === "approved" && kycApprovedAt === undefined;
  return `${isUnconfirmed ? "not approved" : kyc.status} (${kyc.businessName})`;
}

/** The wallet of an organisation, or undefined where it has none. */
async function findWallet(organizationId: string): Promise<WalletRecord | undefined> {
  return readWallet(organizationId).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "WALLET_MISSING") return undefined;
    throw error;
  });
}

function senderIdText({ senderId, status }: SenderIdRecord, defaultSenderId: string | undefined): string {
  return `${senderId} ${status}${senderId === defaultSenderId ? " (default)" : ""}`;
}

export const organizationCommands = [show, verifyEmail, suspend, resume, spread];
