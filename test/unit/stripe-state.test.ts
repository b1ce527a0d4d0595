import type { Stripe } from "stripe";
import { expect, it } from "vitest";

import type { ProviderPayment } from "../../shared/money/payments/provider.ts";
import { noticeOfEvent, stateOfIntent } from "../../shared/money/payments/stripe-state.ts";

interface Given {
  /** The movements of the account's own money: amount, currency and fee. */
  readonly paid?: readonly [number, string, number];
  readonly dispute?: {
    readonly status: string;
    readonly amount?: number;
    readonly currency?: string;
    readonly moved?: readonly (readonly [number, string, number])[];
  };
}

const transactionOf = ([amount, currency, fee]: readonly [number, string, number]) => ({
  object: "balance_transaction",
  amount,
  currency,
  fee,
});

/** Reads a payment of 50.00 USD. */
async function stateOf({ paid = [5_000, "usd", 175], dispute }: Given): Promise<ProviderPayment> {
  const { status, amount = 5_000, currency = "usd", moved = [] } = dispute ?? {};
  const disputes =
    dispute === undefined
      ? []
      : [
          {
            id: "dp_1",
            status,
            reason: "fraudulent",
            evidence_details: { due_by: 1_900_000_000 },
            amount,
            currency,
            balance_transactions: moved.map(transactionOf),
          },
        ];
  const stripe = {
    disputes: {
      list: async function* list() {
        yield* disputes;
      },
    },
  };
  const intent = {
    object: "payment_intent",
    id: "pi_1",
    status: "succeeded",
    currency: "usd",
    amount_received: 5_000,
    latest_charge: {
      amount_refunded: 0,
      disputed: dispute !== undefined,
      balance_transaction: transactionOf(paid),
    },
  };
  // oxlint-disable typescript/no-unsafe-type-assertion -- The objects have only the fields that are read.
  return stateOfIntent(stripe as unknown as Stripe, intent as unknown as Stripe.PaymentIntent, []);
}

it.each([
  ["in the payment's currency", [5_000, "usd", 175], 175],
  ["in yen, which have no minor unit", [7_800, "jpy", 270], 173],
  ["in another currency", [4_600, "eur", 161], 175],
  ["without a rate, and does not keep the payment from being final", [0, "jpy", 1], 0],
] as const)("a fee is %s", async (_, paid, feeMinorUnits) => {
  expect(await stateOf({ paid })).toMatchObject({ feeMinorUnits, minorUnits: 5_000, currency: "USD" });
});

const taken = [-5_000, "usd", 1_500] as const;
const returned = [5_000, "usd", 0] as const;

it.each([
  ["warning_needs_response", [], undefined],
  ["warning_under_review", [], undefined],
  ["warning_closed", [], undefined],
  ["needs_response", [taken], "open"],
  ["under_review", [taken], "open"],
  ["appeal_needs_response", [taken], "lost"],
  ["appeal_under_review", [taken], "lost"],
  ["lost", [taken], "lost"],
  ["won", [taken, returned], "won"],
  ["prevented", [], "won"],
  ["prevented", [taken, returned], "won"],
  ["prevented", [taken], "lost"],
] as const)("a dispute that is %s with the movements %j is %s", async (status, moved, outcome) => {
  const { disputes, unknown } = await stateOf({ dispute: { status, moved } });
  expect(disputes.map((each) => each.status)).toEqual(outcome === undefined ? [] : [outcome]);
  expect(unknown).toEqual([]);
});

it.each([
  [[], []],
  [[taken, returned], []],
  [[taken], [{ id: "dp_1", minorUnits: 5_000, feeMinorUnits: 1_500, status: "open" }]],
] as const)(
  "a dispute with an unknown status counts by its movements %j, and is reported",
  async (moved, disputes) => {
    const state = await stateOf({ dispute: { status: "mediated", moved } });
    expect(state).toMatchObject({ disputes, unknown: ["dp_1: mediated"] });
  },
);

it.each([
  ["that the account settles in", 7_800, "jpy", [[-3_900, "jpy", 2_340]], 5_000, 1_500],
  ["with what the bank has taken", 4_000, "eur", [[-3_900, "jpy", 0]], 2_500, 0],
  ["without a rate: all of the payment", 7_800, "gbp", [], 5_000, 0],
  ["of the payment, and is more than it", 5_200, "usd", [], 5_000, 0],
] as const)(
  "a dispute is in a currency %s",
  async (_, amount, currency, moved, minorUnits, feeMinorUnits) => {
    const dispute = { status: "needs_response", amount, currency, moved };
    const { disputes } = await stateOf({ paid: [7_800, "jpy", 270], dispute });
    const known = { reason: "fraudulent", dueAt: "2030-03-17T17:46:40.000Z" };
    expect(disputes).toEqual([{ id: "dp_1", minorUnits, feeMinorUnits, status: "open", ...known }]);
  },
);

it.each(["M\u00fcller", "Acme Ltd", "x".repeat(200), "org_1"])(
  "the ids of another program in the same account, such as %j, are not taken for ids of the gateway",
  (organizationId) => {
    const paymentId = "pay_01M7Y6EGDXHA99AE471ACHQK57";
    const own = { organizationId: "org_01M7Y6EGDXHA99AE471ACHQK57", paymentId };
    const noticeWith = (object: object): unknown => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of an event that are read
      return noticeOfEvent({ data: { object } } as Stripe.Event);
    };
    const intent = { object: "payment_intent", id: "pi_1" };
    const session = { object: "checkout.session", mode: "payment", payment_intent: "pi_1" };
    for (const object of [intent, session]) {
      expect(noticeWith({ ...object, metadata: own })).toEqual({ providerPaymentId: "pi_1", ...own });
      const foreign = { organizationId, paymentId };
      expect(noticeWith({ ...object, metadata: foreign })).toEqual({ providerPaymentId: "pi_1" });
      expect(noticeWith({ ...object, metadata: {} })).toEqual({ providerPaymentId: "pi_1" });
    }
  },
);
