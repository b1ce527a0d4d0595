import * as z from "zod/mini";

import { idSchema } from "../../shared/api/contract/primitives.ts";
import { advanceNumbers } from "../../shared/money/invoices/record.ts";
import { abandonPayment } from "../../shared/money/payments/abandon.ts";
import { adoptPayment, lostPayment } from "../../shared/money/payments/adopt.ts";
import type { PaymentRecord } from "../../shared/money/payments/record.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { command, OrganizationOption, part, Reason, RequiredText } from "./command.ts";
import { listOf } from "./output.ts";
import { paymentFacts } from "./payments-text.ts";
import { findPaymentById } from "./payments.ts";
import { Amount } from "./wallet-movements.ts";

/*
 * After a restore of the table to an earlier moment: the provider and the bucket of documents have what it lost. And after the
 * end of an account at the provider: the table has payments that no one can settle.
 */

const adopt = command({
  name: "payments adopt",
  summary: "Credit a payment that the provider has and that the table has lost",
  details:
    "Works during a pause too. The payment gets its old ID, once however often the command is repeated. Its invoice, refunds and " +
    "disputes follow after the pause. Payments of releases before 0.4.0 need --amount, and the total has to agree with it.",
  examples: [
    "pi_3Q8XzKLkdIwHu7ix0a1b2c3d --reason 'Restore of 2026-11-21' --stage prod",
    "pi_3Q8XzKLkdIwHu7ix0a1b2c3d --amount 50 --reason 'Restore' --stage prod",
  ],
  asksFirst: true,
  input: z.object({
    payment: part("<payment>", "ID at the provider, as payments compare shows it", RequiredText),
    amount: part(
      "--amount <amount>",
      "amount without tax, if the provider does not have it",
      z.optional(Amount),
    ),
    reason: Reason,
  }),
  run: async ({ payment: providerPaymentId, amount }, { output, confirm, changed }) => {
    const payment = await lostPayment(providerPaymentId, amount);
    const { id, organizationId, amountMicros, totalMicros } = payment;
    const { balanceMicros: before } = await readWallet(organizationId);
    const what = `credit ${moneyText(amountMicros)} of the total of ${moneyText(totalMicros)} to ${organizationId}, as ${id}`;
    await confirm(what, { organizationId, before: { balanceMicros: before } });
    const isAdopted = await adoptPayment(payment, providerPaymentId);
    const { balanceMicros } = await readWallet(organizationId);
    changed({ balanceMicros });
    output.result(
      { organizationId, paymentId: id, amountMicros, balanceMicros, isAdopted },
      `${isAdopted ? id : "It was credited before."} Balance: ${moneyText(balanceMicros)}`,
    );
  },
});

const abandon = command({
  name: "payments abandon",
  summary: "End a payment that waits for an account of the provider which is closed",
  details:
    "Only for a payment of another account than that of the keys, and for one without an account. Look there first whether it was " +
    "paid or refunded. A pending payment expires, and refunds that were not submitted return their money to the wallet. If " +
    "the keys of its account are connected again, the account decides.",
  examples: ["pay_01M7Y6EJCCCYF8FQN69JCEXBCE --reason 'Account closed by Stripe' --stage prod"],
  asksFirst: true,
  input: z.object({
    payment: part("<payment>", "payment ID", idSchema("pay")),
    organization: OrganizationOption,
    reason: Reason,
  }),
  run: async ({ payment: id, organization }, { output, confirm, changed }) => {
    const { organizationId, ...before } = await findPaymentById(id, organization, output);
    const stateOf = ({ status, refunds }: Pick<PaymentRecord, "refunds" | "status">) => ({ status, refunds });
    await confirm(`end ${id} of ${organizationId} without the provider`, {
      organizationId,
      before: stateOf(before),
    });
    const ended = await abandonPayment({ organizationId, paymentId: id });
    changed(stateOf(ended));
    output.result(ended, listOf(paymentFacts(ended)));
  },
});

const Number = z.string().check(z.regex(/^(INV|CRN)-\d{4}-\d{6,9}$/, "must be like INV-2026-000042"));

const advance = command({
  name: "invoices advance",
  summary: "Continue the numbers of invoices or credit notes after one that was issued",
  details: "A lower number changes nothing. Each kind and year has its own numbers.",
  examples: ["INV-2026-000042 --reason 'Restore of 2026-11-21' --stage prod"],
  asksFirst: true,
  input: z.object({ number: part("<number>", "the last number that was issued", Number), reason: Reason }),
  run: async ({ number }, { output, confirm, changed }) => {
    await confirm(`continue the numbers after ${number}`);
    const next = await advanceNumbers(number);
    changed({ next });
    output.result({ next }, `The next number is ${next}.`);
  },
});

export const lostPaymentCommands = [adopt, abandon, advance];
