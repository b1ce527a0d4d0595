import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import type { OrganizationRecord } from "../../shared/accounts/organizations/record.ts";
import { readRights } from "../../shared/accounts/organizations/rights-record.ts";
import { findUser } from "../../shared/accounts/users/record.ts";
import { ApiError } from "../../shared/contract/errors.ts";
import { findKyc } from "../../shared/kyc/record.ts";
import { adjustWallet } from "../../shared/wallet/adjust.ts";
import { microsOfText, moneyText } from "../../shared/wallet/money.ts";
import { readWallet } from "../../shared/wallet/record.ts";
import type { Movement } from "../../shared/wallet/reference.ts";
import { command, Organization, part, PublicReason, RequiredText, type OperatorCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { readOrganization } from "./organization.ts";
import { emailText, kycText } from "./organizations.ts";
import { listOf } from "./output.ts";

export const amountRule = "must be a number above 0 with at most 6 decimals, for example 12.50";
export const Amount = z
  .pipe(
    z.string(amountRule),
    z.transform((text) => microsOfText(text) ?? 0),
  )
  .check(z.refine((micros) => micros > 0, amountRule));

const Adjustment = z.object({
  organization: Organization,
  amount: part("<amount>", "amount above 0, with at most 6 decimals", Amount),
  reason: PublicReason,
  reference: part(
    "--reference <text>",
    "unique reference, such as an invoice number, shown to the customer",
    z.optional(RequiredText),
  ),
});

type MovementType = Movement["type"];

/** Movements with a cause outside of the gateway, which has a reference there. */
const typesWithReference: ReadonlySet<MovementType> = new Set(["payment", "payment_refund", "chargeback"]);

const aboutReferences =
  "A reference is used once, over all organizations. Repeating the same movement changes nothing; a different one is " +
  "rejected. Without --reference a credit or a correction generates one and prints it first. If the response is lost, " +
  "repeat the command with that reference.";

interface Direction<Type extends MovementType> extends Pick<
  OperatorCommand,
  "examples" | "name" | "summary"
> {
  readonly sign: -1 | 1;
  /** The values of --type, the default first. */
  readonly types: readonly [Type, ...Type[]];
  readonly typeHelp: string;
}

function adjustment<Type extends MovementType>({
  sign,
  types,
  typeHelp,
  ...description
}: Direction<Type>): OperatorCommand {
  const Type = z._default(z.enum(types, `must be one of ${types.join(", ")}`), types[0]);
  return command({
    ...description,
    details: aboutReferences,
    asksFirst: true,
    input: z.extend(Adjustment, { type: part("--type <type>", typeHelp, Type) }).check(
      z.refine(({ type, reference }) => reference !== undefined || !typesWithReference.has(type), {
        path: ["reference"],
        error: "is missing: payments, refunds and chargebacks need their own reference",
      }),
    ),
    run: async (input, context) => adjust({ ...input, amountMicros: sign * input.amount }, context),
  });
}

async function adjust(
  input: Omit<z.infer<typeof Adjustment>, "amount"> & Pick<Movement, "amountMicros" | "type">,
  { output, confirm, changed }: Context,
): Promise<void> {
  const organization = await readOrganization(input.organization);
  const organizationId = organization.id;
  const { type, amountMicros, reason } = input;
  const { balanceMicros } = await readWallet(organizationId);
  const what = `change this wallet by ${moneyText(amountMicros)} (${type}), from ${moneyText(balanceMicros)}: ${reason}`;
  await confirm(`${what}\n${await ownerText(organization)}`, { organizationId, before: { balanceMicros } });
  const reference = input.reference ?? randomUUID();
  if (input.reference === undefined) {
    output.aside(`If the response is lost, repeat the command with --reference ${reference}`);
  }
  const movement = { organizationId, type, amountMicros, reason, reference };
  const { balanceMicros: after, wasDoneBefore } = await adjustWallet(movement).catch((error: unknown) => {
    const isTooMuch = error instanceof ApiError && error.code === "INSUFFICIENT_BALANCE";
    throw isTooMuch ? new Error("The balance is lower than that amount.", { cause: error }) : error;
  });
  changed({ balanceMicros: after });
  output.result(
    { organizationId, type, amountMicros, balanceMicros: after, reference, wasDoneBefore },
    wasDoneBefore
      ? `Nothing was changed: this movement was made before. The balance after it was ${moneyText(after)}.`
      : `${organizationId}: ${moneyText(amountMicros)} (${type}), balance ${moneyText(after)}`,
  );
}

/** Identifies the owner of a wallet for the operator: anyone can register with any name and email. */
async function ownerText(organization: OrganizationRecord): Promise<string> {
  const { id, name } = organization;
  const rights = await readRights(id, { consistent: true });
  const { ownerId } = rights;
  const [user, kyc] = await Promise.all([ownerId === undefined ? undefined : findUser(ownerId), findKyc(id)]);
  return listOf({
    Organization: id,
    Name: name,
    Owner: user === undefined ? "unknown" : `${user.email}, ${emailText(rights)}`,
    KYC: kycText(kyc, rights),
  });
}

export const movementCommands = [
  adjustment({
    name: "wallets credit",
    summary: "Add money to a wallet",
    sign: 1,
    types: ["credit", "payment", "correction"],
    typeHelp:
      "credit for goodwill (default), payment for money that the customer paid, or correction of a mistake",
    examples: [
      "ada@example.com 250 --type payment --reason 'Invoice 117' --reference inv-117",
      "ada@example.com 5 --reason 'Sorry for the delay' --stage prod",
    ],
  }),
  adjustment({
    name: "wallets debit",
    summary: "Remove money from a wallet; only a chargeback can make the balance negative",
    sign: -1,
    types: ["correction", "payment_refund", "chargeback"],
    typeHelp:
      "correction of a mistake (default), payment_refund for a payment that you return, or chargeback by the customer's bank",
    examples: [
      "ada@example.com 12.50 --reason 'Credited twice' --stage prod",
      "ada@example.com 250 --type chargeback --reason 'Invoice 117' --reference dispute-88",
    ],
  }),
];
