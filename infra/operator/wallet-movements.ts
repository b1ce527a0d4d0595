import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { idSchema } from "../../shared/api/contract/primitives.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { findPayment } from "../../shared/money/payments/record.ts";
import { recordTransfer } from "../../shared/money/payments/transfer.ts";
import { adjustWallet } from "../../shared/money/wallet/adjust.ts";
import { microsOfMinorUnits, microsOfText, moneyText } from "../../shared/money/wallet/money.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { findMovement, type Movement } from "../../shared/money/wallet/reference.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { findKyc } from "../../shared/tenancy/kyc/record.ts";
import type { OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { readRights } from "../../shared/tenancy/organizations/rights-record.ts";
import { findUser } from "../../shared/tenancy/users/record.ts";
import { command, Organization, part, PublicReason, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { readOrganization } from "./organization.ts";
import { emailText, kycText } from "./organizations.ts";
import { listOf, type Output } from "./output.ts";
import { invoiceText } from "./payments-text.ts";

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

function adjusted<Type extends MovementType>(types: readonly [Type, ...Type[]], typeHelp: string) {
  const Type = z._default(z.enum(types, `must be one of ${types.join(", ")}`), types[0]);
  return z.extend(Adjustment, { type: part("--type <type>", typeHelp, Type) });
}

const needsReference = z.refine<{
  readonly type: MovementType;
  readonly reference?: string | undefined;
}>(({ type, reference }) => reference !== undefined || !typesWithReference.has(type), {
  path: ["reference"],
  error: "is missing: payments, refunds and chargebacks need their own reference",
});

/** Shows a generated reference before it is used, so that the operator can repeat the command. */
export function noted(reference: string, output: Output): void {
  output.aside(`If the response is lost, repeat the command with --reference ${reference}`);
}

/** Throws an error again, one about the balance in the operator's words. */
export function explainOverdraft(error: unknown): never {
  const isTooMuch = error instanceof ApiError && error.code === "INSUFFICIENT_BALANCE";
  throw isTooMuch ? new Error("The balance is lower than that amount.", { cause: error }) : error;
}

function doneBeforeText(after: number): string {
  return `Nothing was changed: this movement was made before. The balance after it was ${moneyText(after)}.`;
}

function balanceText(balanceMicros: number): string {
  return listOf({ "Balance now": moneyText(balanceMicros) });
}

async function adjust(
  input: Omit<z.infer<typeof Adjustment>, "amount"> & Pick<Movement, "amountMicros" | "type">,
  { output, confirm, changed }: Context,
): Promise<void> {
  const organization = await readOrganization(input.organization);
  const organizationId = organization.id;
  const { type, amountMicros, reason } = input;
  const { balanceMicros } = await readWallet(organizationId);
  const what = `change this wallet by ${moneyText(amountMicros)} (${type}): ${reason}`;
  const reference = input.reference ?? randomUUID();
  await confirm(`${what}\n${await ownerText(organization)}`, {
    organizationId,
    before: { balanceMicros },
    shown: balanceText(balanceMicros),
    movement: { amountMicros, input: { organization: organizationId, reference } },
  });
  if (input.reference === undefined) noted(reference, output);
  const movement = { organizationId, type, amountMicros, reason, reference };
  const { balanceMicros: after, wasDoneBefore } = await adjustWallet(movement).catch(explainOverdraft);
  changed({ balanceMicros: after });
  output.result(
    { organizationId, type, amountMicros, balanceMicros: after, reference, wasDoneBefore },
    wasDoneBefore
      ? doneBeforeText(after)
      : `${organizationId}: ${moneyText(amountMicros)} (${type}), balance ${moneyText(after)}`,
  );
}

interface PaymentInput extends z.infer<typeof Adjustment> {
  /** The id of a pending bank transfer. */
  readonly payment?: string | undefined;
}

/** Records a bank transfer, with the tax that the customer has paid on it. */
async function creditPayment(
  { amount: amountMicros, reason, reference = "", payment: paymentId, ...named }: PaymentInput,
  { output, confirm, changed }: Context,
): Promise<void> {
  const organization = await readOrganization(named.organization);
  const organizationId = organization.id;
  if (amountMicros % microsOfMinorUnits(1) !== 0) {
    throw new RejectedError("A payment is a whole number of the currency's smallest unit.");
  }
  const transfer = { organizationId, method: "bank_transfer", origin: "operator", amountMicros } as const;
  const { balanceMicros } = await readWallet(organizationId);
  const payment =
    paymentId === undefined
      ? newPayment({ ...transfer, billing: await readBilling(organizationId) })
      : await findPayment({ organizationId, paymentId });
  if (payment === undefined) throw new RejectedError(`${organizationId} has no payment ${paymentId}.`);
  const { taxMicros, totalMicros } = payment;
  const invoice = `${invoiceText(payment)}: ${reason}`;
  await confirm(`credit a payment to this wallet. ${invoice}\n${await ownerText(organization)}`, {
    organizationId,
    before: { balanceMicros },
    shown: balanceText(balanceMicros),
    movement: { amountMicros, input: { organization: organizationId } },
  });
  const recorded = await recordTransfer({ organizationId, amountMicros, reference, reason, paymentId });
  const movement = { organizationId, type: "payment", amountMicros, reference } as const;
  const after = (await findMovement(movement))?.balanceMicros ?? balanceMicros;
  changed({ balanceMicros: after, paymentId: recorded?.paymentId });
  const wasDoneBefore = recorded === undefined;
  output.result(
    {
      ...movement,
      ...(wasDoneBefore ? {} : { paymentId: recorded.paymentId, taxMicros, totalMicros }),
      balanceMicros: after,
      wasDoneBefore,
    },
    wasDoneBefore
      ? doneBeforeText(after)
      : `${organizationId}: ${recorded.paymentId}, ${invoice}, balance ${moneyText(after)}`,
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

const credit = command({
  name: "wallets credit",
  summary: "Add money to a wallet",
  details:
    `${aboutReferences} A payment gets an invoice and a receipt. Its amount is without tax: the confirmation shows the total ` +
    "that the customer must have transferred.",
  examples: [
    "ada@example.com 250 --type payment --reason 'Invoice 117' --reference bank-4711",
    "ada@example.com 5 --reason 'Sorry for the delay' --stage prod",
  ],
  asksFirst: true,
  input: z
    .extend(
      adjusted(
        ["credit", "payment", "correction"],
        "credit for goodwill (default), payment for money that the customer paid, or correction of a mistake",
      ),
      {
        payment: part(
          "--payment <id>",
          "the pending bank transfer that this payment completes",
          z.optional(idSchema("pay")),
        ),
      },
    )
    .check(
      needsReference,
      z.refine(({ type, payment }) => payment === undefined || type === "payment", {
        path: ["payment"],
        error: "requires --type payment",
      }),
    ),
  run: async (input, context) =>
    input.type === "payment"
      ? creditPayment(input, context)
      : adjust({ ...input, amountMicros: input.amount }, context),
});

const debit = command({
  name: "wallets debit",
  summary: "Remove money from a wallet; only a chargeback can make the balance negative",
  details: `${aboutReferences} To pay back a payment, use payments refund.`,
  examples: [
    "ada@example.com 12.50 --reason 'Credited twice' --stage prod",
    "ada@example.com 250 --type chargeback --reason 'Invoice 117' --reference dispute-88",
  ],
  asksFirst: true,
  input: adjusted(
    ["correction", "payment_refund", "chargeback"],
    "correction of a mistake (default), payment_refund for money that you returned by other means, or chargeback by the " +
      "customer's bank",
  ).check(needsReference),
  run: async (input, context) => adjust({ ...input, amountMicros: -input.amount }, context),
});

export const movementCommands = [credit, debit];
