import type { AutoRechargeState } from "../../../../shared/api/contract/billing.ts";
import type { PaymentMethod } from "../../../../shared/api/contract/payments.ts";
import { api } from "../api.ts";
import { currency } from "../features.ts";
import { amountOf, given } from "../typed.ts";
import { CheckField, Form, SelectField, TextField, useForm } from "./form.tsx";
import { amountText } from "./money.tsx";
import { announce, Notice } from "./notice.tsx";
import { Facts } from "./page.tsx";
import { cardText, failureTexts } from "./payment.tsx";
import { optionalTime } from "./time.tsx";

interface AutoRechargeProps {
  readonly cards: readonly PaymentMethod[];
  readonly state: AutoRechargeState | null;
  readonly onSaved: () => Promise<void>;
}

/** The settings of auto-recharge, and what it did this month. */
export function AutoRecharge({ cards, state, onSaved }: AutoRechargeProps) {
  if (state === null && cards.length === 0) {
    return <p>Auto-recharge pays with a saved card when your balance gets low. Add a card first.</p>;
  }
  return (
    <>
      {state === null ? null : <State state={state} />}
      <Settings cards={cards} state={state} onSaved={onSaved} />
    </>
  );
}

function State({ state }: { state: AutoRechargeState }) {
  const { isEnabled, monthlyCap, rechargedThisMonth, pausedUntil, failure, pendingPaymentId } = state;
  const reason = failure === undefined ? "Recharges have reached the monthly limit." : failureTexts[failure];
  return (
    <>
      {pausedUntil === undefined && failure === undefined ? null : (
        <Notice tone="bad">
          {isEnabled ? "Recharges are paused." : "Auto-recharge was switched off after several failures."}{" "}
          {reason} Save the settings to try again.
        </Notice>
      )}
      <Facts
        of={{
          "Paused until": optionalTime(pausedUntil),
          "This month": `${amountText(rechargedThisMonth)} of ${amountText(monthlyCap)}`,
          "In progress":
            pendingPaymentId === undefined ? undefined : (
              <a href={`#/payments/${pendingPaymentId}`}>Open the payment</a>
            ),
        }}
      />
    </>
  );
}

function Settings({ cards, state, onSaved }: AutoRechargeProps) {
  // The card may have been removed.
  const card = cards.find(({ id }) => id === state?.paymentMethodId);
  const initial = {
    isEnabled: state?.isEnabled ?? true,
    threshold: String(state?.threshold ?? ""),
    amount: String(state?.amount ?? ""),
    monthlyCap: String(state?.monthlyCap ?? ""),
    paymentMethodId: card?.id ?? "",
  };
  const form = useForm(initial, async (values) => {
    const saved = await api().updateAutoRecharge({
      body: {
        isEnabled: values.isEnabled,
        threshold: amountOf("threshold", values.threshold),
        amount: amountOf("amount", values.amount),
        monthlyCap: amountOf("monthlyCap", values.monthlyCap),
        paymentMethodId: given(values.paymentMethodId),
      },
    });
    announce(saved.isEnabled ? "Auto-recharge is on." : "Auto-recharge is off.");
    await onSaved();
  });
  return (
    <Form form={form} action="Save" isNarrow>
      <CheckField field={form.field("isEnabled")} label="Recharge the wallet automatically" />
      <TextField
        field={form.field("threshold")}
        label={`When the balance falls below (${currency})`}
        inputMode="decimal"
        hint="Choose enough for the messages that you send within a few minutes."
      />
      <TextField
        field={form.field("amount")}
        label={`Amount of a recharge (${currency})`}
        inputMode="decimal"
        hint="Your wallet receives this amount. Tax is added."
      />
      <TextField
        field={form.field("monthlyCap")}
        label={`Monthly limit (${currency})`}
        inputMode="decimal"
        hint="The most that recharges add to your wallet in a month (UTC)."
      />
      <SelectField
        field={form.field("paymentMethodId")}
        label="Card"
        options={[["", "The newest card"], ...cards.map((each) => [each.id, cardText(each)] as const)]}
      />
    </Form>
  );
}
