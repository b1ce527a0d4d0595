import type { Billing } from "../../../../shared/api/contract/billing.ts";
import { api } from "../api.ts";
import { openCheckout, returnUrl } from "../checkout.ts";
import { currency } from "../features.ts";
import { go } from "../router.ts";
import { amountOf, typedAmount } from "../typed.ts";
import { DialogButton } from "./dialog.tsx";
import { CheckField, Form, SelectField, TextField, useForm } from "./form.tsx";
import { Loaded, useLoad } from "./load.tsx";
import { amountText, countText, currencyDecimals } from "./money.tsx";
import { Facts } from "./page.tsx";
import { cardText } from "./payment.tsx";

/** A button that opens the payment form. @param amount the initial amount */
export function PayButton({ label = "Add funds", amount = "", isOpen = false }) {
  return (
    <DialogButton label={label} title="Add funds" isOpenAtFirst={isOpen} onDone={async () => undefined}>
      {() => <Pay amount={amount} />}
    </DialogButton>
  );
}

async function readTerms() {
  const billing = await api().getBilling();
  return { billing, cards: billing.methods.includes("card") ? await api().listPaymentMethods() : [] };
}

function Pay({ amount }: { amount: string }) {
  const load = useLoad(readTerms, []);
  return <Loaded load={load}>{(terms) => <PayForm {...terms} initialAmount={amount} />}</Loaded>;
}

function PayForm({
  billing,
  cards,
  initialAmount,
}: Awaited<ReturnType<typeof readTerms>> & { initialAmount: string }) {
  const { methods, minimumPayment, maximumPayment } = billing;
  const options = [
    ...cards.map((card) => [card.id, cardText(card)] as const),
    ...(methods.includes("card") ? ([["card", "New card"]] as const) : []),
    ...(methods.includes("bank_transfer") ? ([["bank_transfer", "Bank transfer"]] as const) : []),
  ];
  const suggestions = suggestionsOf(billing);
  const initial = { amount: initialAmount || String(suggestions[1] ?? ""), method: "", saveCard: false };
  const form = useForm(initial, async (values, attemptKey) => pay(values, attemptKey), { draft: "pay" });
  const { amount, saveCard } = form.values.value;
  // A card of a draft may have been removed.
  const [method = ""] = options.find(([each]) => each === form.values.value.method) ?? options[0] ?? [];
  const pay = async (values: typeof initial, attemptKey: string): Promise<void> => {
    const isSaved = method !== "card" && method !== "bank_transfer";
    const payment = await api().createPayment({
      body: {
        amount: amountOf("amount", values.amount),
        method: method === "bank_transfer" ? method : "card",
        ...(isSaved ? { paymentMethodId: method } : {}),
        saveCard: method === "card" && saveCard,
        returnUrl,
      },
      idempotencyKey: attemptKey,
    });
    if (payment.checkoutUrl === undefined) go(`payments/${payment.id}?new`);
    else openCheckout(payment.checkoutUrl, payment.id);
  };
  const actions: Readonly<Record<string, string>> = {
    card: "Continue to checkout",
    bank_transfer: "Show bank details",
  };
  return (
    <Form form={form} action={actions[method] ?? "Pay now"}>
      <TextField
        field={form.field("amount")}
        label={`Amount (${currency})`}
        inputMode="decimal"
        hint={`From ${amountText(minimumPayment)} to ${amountText(maximumPayment)}.`}
        hasFocus
      />
      <div class="row">
        {suggestions.map((each) => (
          <button
            key={each}
            type="button"
            class="small"
            aria-pressed={amount === String(each)}
            onClick={() => form.set({ amount: String(each) })}
          >
            {countText(each)}
          </button>
        ))}
      </div>
      <SelectField
        field={{ ...form.field("method", "paymentMethodId"), value: method }}
        label="Pay with"
        options={options}
      />
      {method === "card" ? (
        <CheckField field={form.field("saveCard")} label="Save this card for later" />
      ) : null}
      <Cost amount={typedAmount(amount)} billing={billing} />
    </Form>
  );
}

/** Round amounts within the limits of the gateway. */
function suggestionsOf({ minimumPayment, maximumPayment }: Billing): readonly number[] {
  const scale = currencyDecimals === 0 ? 100 : 1;
  return [20, 50, 100, 500]
    .map((each) => each * scale)
    .filter((each) => each >= minimumPayment && each <= maximumPayment);
}

/** The price of an amount with tax, which is rounded as the gateway does. */
function Cost({ amount, billing }: { amount: number; billing: Billing }) {
  const { rate, note, reason } = billing.tax;
  const unit = 10 ** currencyDecimals;
  const tax = Math.round((Math.round(amount * unit) * rate) / 100) / unit;
  return (
    <div class="price" aria-live="polite">
      {amount > 0 ? (
        <Facts
          of={{
            "Your wallet receives": amountText(amount),
            [`Tax (${countText(rate)}%)`]: rate === 0 ? undefined : amountText(tax),
            "You pay": <strong>{amountText(amount + tax)}</strong>,
          }}
        />
      ) : (
        <p class="muted">Enter an amount to see the total.</p>
      )}
      <p class="hint">
        {note ?? reason} Tax depends on your <a href="#/payments/billing">billing details</a>.
      </p>
    </div>
  );
}
