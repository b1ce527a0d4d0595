import { paymentSecretName } from "@sms-gateway/stack/constructs/names.ts";
import * as z from "zod/mini";

import { PaymentStatus } from "../../shared/api/contract/payments.ts";
import { idSchema } from "../../shared/api/contract/primitives.ts";
import { readUnsettled } from "../../shared/figures/operators/report.ts";
import { cardProvider } from "../../shared/money/payments/providers.ts";
import {
  byDueDate,
  openDisputeOf,
  findPayment,
  paymentsOf,
  readPayment,
  type PaymentRecord,
  restOf,
} from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { paymentSettings } from "../../shared/money/payments/settings.ts";
import { accountOf, stripeEvents } from "../../shared/money/payments/stripe-state.ts";
import { amountOf, moneyText } from "../../shared/money/wallet/money.ts";
import { writeSecret } from "../../shared/platform/aws/write-secret.ts";
import { newId } from "../../shared/platform/ids.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { readCredentials } from "./carriers.ts";
import {
  command,
  count,
  daysAgo,
  flag,
  limit,
  OrganizationOption,
  part,
  PublicReason,
  RequiredText,
} from "./command.ts";
import { readOrganization, searchOrganizations } from "./organization.ts";
import { listOf, type Output } from "./output.ts";
import { invoiceText, movementColumns, movementsOf, paymentColumns, paymentFacts } from "./payments-text.ts";
import { Amount, explainOverdraft, noted } from "./wallet-movements.ts";

const Days = z._default(count(400), 30);
const PaymentId = part("<payment>", "payment ID", idSchema("pay"));

const list = command({
  name: "payments list",
  summary: "List payments, the newest first",
  details:
    "Without --organization it reads each organization: half a read unit for one without payments. With --unsettled or " +
    "--disputed it reads only these payments.",
  examples: [
    "--stage prod",
    "--organization ada@example.com --status failed",
    "--unsettled --total 59.50 --stage prod",
    "--disputed --since 120 --stage prod",
  ],
  discloses: true,
  input: z.object({
    organization: OrganizationOption,
    status: part("--status <status>", PaymentStatus.options.join(", "), z.optional(PaymentStatus)),
    since: part("--since <days>", "number of past days; default: 30", Days),
    unsettled: flag("--unsettled", "only payments that the gateway still works on"),
    disputed: flag("--disputed", "only payments with an open dispute, the next one due first"),
    total: part(
      "--total <amount>",
      "only payments of this amount with tax, such as a transfer without its reference",
      z.optional(Amount),
    ),
    limit: limit(100, 10_000, "payments"),
  }),
  run: async ({ organization, status, since, unsettled, disputed, total, limit: wanted }, { output }) => {
    const from = daysAgo(since);
    const isWanted = (payment: PaymentRecord): boolean =>
      (status === undefined || payment.status === status) &&
      (!unsettled || payment.pendingWork !== undefined) &&
      (total === undefined || payment.totalMicros === total) &&
      (!disputed || openDisputeOf(payment) !== undefined) &&
      payment.createdAt >= from.toISOString();
    const read = async (organizationId: string): Promise<PaymentRecord[]> => {
      const found: PaymentRecord[] = [];
      for await (const payment of paymentsOf(organizationId, from))
        if (isWanted(payment)) found.push(payment);
      return found;
    };
    const readAll = async (): Promise<readonly PaymentRecord[]> =>
      unsettled || disputed
        ? (await readUnsettled()).filter(isWanted)
        : (await searchOrganizations(read, output, { most: Infinity })).found;
    const found =
      organization === undefined ? await readAll() : await read((await readOrganization(organization)).id);
    // The ids have the order of time.
    const newest = found.toSorted((one, other) => (one.id < other.id ? 1 : -1));
    const rows = (disputed ? newest.toSorted(byDueDate) : newest).slice(0, wanted);
    output.table(rows, paymentColumns);
    output.note(`${found.length} payments${found.length > rows.length ? `, ${rows.length} shown` : ""}`);
  },
});

const show = command({
  name: "payments show",
  summary: "Show a payment with its invoice, fee, refunds, disputes and movements of the wallet",
  details: "Without --organization the command searches all organizations.",
  examples: ["pay_01M7Y6EJCCCYF8FQN69JCEXBCE --stage prod"],
  discloses: true,
  input: z.object({ payment: PaymentId, organization: OrganizationOption }),
  run: async ({ payment: id, organization }, { output }) => {
    const payment = await findPaymentById(id, organization, output);
    const movements = await movementsOf(payment);
    output.result({ ...payment, movements }, listOf(paymentFacts(payment)), movements, movementColumns);
  },
});

const refund = command({
  name: "payments refund",
  summary: "Pay back a payment, or a part of it",
  details:
    "The amount leaves the wallet now, so the balance must cover it. The gateway then pays it back with its tax and issues a " +
    "credit note. A bank transfer you pay back yourself. If the response is lost, repeat the command with the printed " +
    "reference.",
  examples: [
    "pay_01M7Y6EJCCCYF8FQN69JCEXBCE --reason 'Account closed' --stage prod",
    "pay_01M7Y6EJCCCYF8FQN69JCEXBCE --amount 12.50 --reason 'Paid twice'",
  ],
  asksFirst: true,
  input: z.object({
    payment: PaymentId,
    organization: OrganizationOption,
    amount: part("--amount <amount>", "amount without tax; default: all that is left", z.optional(Amount)),
    reason: PublicReason,
    reference: part(
      "--reference <id>",
      "reference that an earlier attempt printed",
      z.optional(idSchema("rfd")),
    ),
  }),
  run: async ({ payment: paymentId, organization, amount, reason, reference }, context) => {
    const { output, confirm, changed } = context;
    const before = await findPaymentById(paymentId, organization, output);
    const { organizationId, provider } = before;
    const repeated = before.refunds.find((each) => each.id === reference);
    const amountMicros = repeated?.amountMicros ?? amount ?? restOf(before).amountMicros;
    const what = `refund ${moneyText(amountMicros)} of ${paymentId}. ${invoiceText(before)}`;
    const id = reference ?? newId("rfd");
    const fixed = { organization: organizationId, amount: String(amountOf(amountMicros)), reference: id };
    await confirm(`${what}: ${reason}`, {
      organizationId,
      before: { refunds: before.refunds },
      // A repetition moves nothing.
      movement: { amountMicros: repeated === undefined ? amountMicros : 0, input: fixed },
    });
    if (reference === undefined) noted(id, output);
    const key = { organizationId, paymentId };
    await recordRefund(key, { id, amountMicros, reason }).catch(explainOverdraft);
    const { refunds } = await readPayment(key);
    const recorded = refunds.find((each) => each.id === id);
    if (recorded === undefined) throw new Error(`the refund ${id} was not recorded`);
    changed({ refunds });
    const { totalMicros, status } = recorded;
    const sent =
      provider === "manual"
        ? `Transfer ${moneyText(totalMicros)} to the customer.`
        : `The gateway pays back ${moneyText(totalMicros)} within a minute.`;
    output.result(
      { organizationId, paymentId, ...recorded },
      `${id}: ${moneyText(recorded.amountMicros)} left the wallet. ${status === "pending" ? sent : `It is ${status}.`}`,
    );
  },
});

const connect = command({
  name: "payments connect",
  summary: "Store the keys of the payment provider, and show the address for its events",
  details:
    "Secrets Manager stores the keys. The change applies within a minute. Create the webhook at Stripe first with the printed " +
    "address and events, because its secret is one of the keys. Keys of another account are rejected while the gateway still works " +
    "on a payment of the former one. Its saved cards are not charged any more.",
  examples: [
    "--credentials stripe.json --stage prod",
    "--credentials - --stage prod < stripe.json",
    "--stage prod",
  ],
  asksFirst: ({ credentials }) => credentials !== undefined,
  input: z.object({
    credentials: part(
      "--credentials <file>",
      "JSON file with secretKey and webhookSecret, or - for standard input; default: only show the address",
      z.optional(RequiredText),
    ),
  }),
  run: async ({ credentials }, { output, stage, stackName, apiUrl, confirm }) => {
    const webhook = { address: `${apiUrl}/v1/payments/events/stripe`, events: [...stripeEvents] };
    if (credentials !== undefined) {
      // Other commands start without the package of Stripe.
      const { newStripe, StripeKeys } = await import("../../shared/money/payments/stripe-client.ts");
      const keys = StripeKeys.safeParse(await readCredentials(credentials));
      // Zod's own messages quote no values. They must not, because the values are secrets.
      if (!keys.success) {
        const [issue] = keys.error.issues;
        throw new RejectedError(
          `The keys are not valid: ${issue?.path.join(".") || "they"}: ${issue?.message}`,
        );
      }
      if (stage === undefined && /^(sk|rk)_live_/.test(keys.data.secretKey)) {
        throw new RejectedError("The local gateway accepts only keys of a test account.");
      }
      const { secretKey } = keys.data;
      const account = await accountOf(newStripe(secretKey), secretKey).catch((error: unknown) => {
        throw new RejectedError(`Stripe did not show the account of the keys: ${Object(error).message}`);
      });
      if (account === undefined) throw new RejectedError("The key needs the permission to read its account.");
      await confirm(await replacementText(account));
      await writeSecret(paymentSecretName(stackName), keys.data, "the payment provider");
    }
    output.result(
      { ...webhook, isStored: credentials !== undefined },
      listOf({ "Webhook address": webhook.address, "Events to enable": webhook.events.join(" ") }),
    );
    if (credentials === undefined) output.note("No keys were stored. Store them with --credentials <file>.");
    if (paymentSettings().cards === "none")
      output.note(
        'The stage accepts no cards: set "payments": {"cards": "stripe"} in its file, and deploy it.',
      );
  },
});

/**
 * Returns what other keys replace.
 * @throws RejectedError while the gateway still works on payments of another account
 */
async function replacementText(account: string): Promise<string> {
  const isOther = ({ providerAccount = account }: PaymentRecord): boolean => providerAccount !== account;
  const [first, ...others] = (await readUnsettled()).filter(isOther);
  if (first !== undefined) {
    throw new RejectedError(
      `The gateway still works on ${others.length + 1} payments of another account, such as ${first.id} of ` +
        `${first.providerAccount}. Wait until they are settled. If that account is closed, end each with payments abandon.`,
    );
  }
  const present = await (await cardProvider()).account().catch(() => undefined);
  const lost =
    present === undefined || present === account
      ? ""
      : `. Cards saved in ${present} cannot be charged any more`;
  return `replace the keys of the payment provider by those of ${account}${lost}`;
}

/** Finds a payment in an organization, or in all: one read for each. */
export async function findPaymentById(
  paymentId: string,
  organization: string | undefined,
  output: Output,
): Promise<PaymentRecord> {
  const find = async (organizationId: string) =>
    [await findPayment({ organizationId, paymentId })].filter((each) => each !== undefined);
  const within = organization === undefined ? undefined : (await readOrganization(organization)).id;
  const limits = { most: Infinity, isEnough: ({ length }: readonly unknown[]) => length > 0 };
  const [found] =
    within === undefined ? (await searchOrganizations(find, output, limits)).found : await find(within);
  if (found !== undefined) return found;
  throw new RejectedError(`There is no payment ${paymentId}${within === undefined ? "" : ` of ${within}`}.`);
}

export const paymentCommands = [list, show, refund, connect];
