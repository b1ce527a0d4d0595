import type { KeyFamily } from "../../shared/platform/table/key-families.ts";

/*
 * The roles of people who operate a stage. Each has a policy, which `constructs/operator-policies.ts` makes from the role's
 * lines in `permissions.txt`. A command that is in no list is for the role `operator` alone, who may run all of them.
 */

export const roles = ["support", "finance", "operator", "auditor"] as const;
export type Role = (typeof roles)[number];

/** Groups of commands with their verbs. */
const commandsOf: Readonly<Record<Exclude<Role, "operator">, readonly string[]>> = {
  support: [
    "organizations list find show, wallets list-entries, messages list show find, suppressions show remove, kyc list",
    "sender-ids list find, numbers list, verifications list, destinations list, carriers list, routes list, sending show",
    "payments show show-pause, deliveries, desk, version",
  ],
  finance: [
    "organizations find show unusual, wallets credit debit list-entries, payments list list-comparisons show refund show-pause",
    "suppressions show, approvals list approve reject, books close export list, invoices export, margins, prices list list-versions",
    "sender-ids list, destinations list, sending show, desk, version",
  ],
  auditor: [
    "organizations find unusual, wallets list-entries, payments list list-comparisons show, books export list, invoices export, sender-ids list, margins",
    "prices list list-versions, carriers list compare-invoice, routes list, destinations list, approvals list, audit-log, audit-logs verify",
    "desk, version",
  ],
};

/** Returns the roles that may run a command. */
export function rolesOf(command: string): Role[] {
  const [group, verb] = command.split(" ");
  const allows = (each: string): boolean => {
    const [ofGroup, ...verbs] = each.split(" ");
    return ofGroup === group && (verb === undefined || verbs.includes(verb));
  };
  return roles.filter((role) => role === "operator" || commandsOf[role].join(", ").split(", ").some(allows));
}

/** The name of a role in `permissions.txt`. */
export function accessNameOf(role: Role): string {
  return `${role}Role`;
}

/** The families whose items have texts and data of messages, or hashes of keys: only the role `operator` reads these. */
export const partlyReadable: readonly KeyFamily[] = ["MESSAGES", "ORG"];
export const hiddenFields = [
  "message",
  "secretHash",
  "reference",
  "metadata",
  "callbackUrl",
  "code",
] as const;

/** The attributes of these families that the other roles may read, by their names in the table. */
export const readableAttributes: readonly string[] = [
  "pk sk entity id organizationId createdAt createdBy expiresAt",
  "hint userId ancestorIds",
  "to senderId from language messageType campaignId apiKeyId encoding segments status unitPriceMicros totalMicros costMicros",
  "queuedAt scheduledAt validUntil sentAt failedAt cancelledAt attempts leaseToken leaseUntil openClaims attemptLog rejectedBy carrier",
  "verificationId batchId carrierReference errorCode deliveryStatus deliveryAt deliveryErrorCode deliveryProviderCode deliveryCarrier deliveryToken",
  "refund fee feeMicros name defaultSenderId suspendedAt suspendedReason pausedAt secondFactorRequiredAt priceOverridesVersion",
  "repliesSince apiKeyCount campaignCount contactCount furtherMemberCount senderIdCount templateCount verificationProfileCount webhookCount",
  "useCase decidedAt rejectionReason",
].flatMap((names) => names.split(" "));
