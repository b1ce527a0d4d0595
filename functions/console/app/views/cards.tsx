import type { PaymentMethod } from "../../../../shared/api/contract/payments.ts";
import { api, baseUrl } from "../api.ts";
import { leaveFor } from "../checkout.ts";
import { AutoRecharge } from "../parts/auto-recharge.tsx";
import { ActionButton, ConfirmButton } from "../parts/dialog.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { Section } from "../parts/page.tsx";
import { cardText } from "../parts/payment.tsx";
import { PaymentsPage } from "../parts/payments-page.tsx";
import { Table } from "../parts/table.tsx";

async function readCards() {
  const [cards, autoRecharge] = await Promise.all([api().listPaymentMethods(), api().getAutoRecharge()]);
  return { cards, autoRecharge };
}

async function addCard(): Promise<void> {
  const address = "#/payments/cards";
  const { checkoutUrl } = await api().addPaymentMethod({
    body: { returnUrl: `${baseUrl}/console${address}` },
  });
  leaveFor(checkoutUrl, address);
}

/** The saved cards, and the recharges that use them. */
export function Cards() {
  const load = useLoad(readCards, []);
  const add = <ActionButton label="Add card" act={addCard} isPrimary />;
  return (
    <PaymentsPage
      lead="Pay with one click, or let a card recharge your wallet."
      actions={load.data === undefined ? null : add}
    >
      <Section title="Saved cards">
        <Loaded load={load}>{({ cards }) => <CardTable cards={cards} onRemove={load.reload} />}</Loaded>
      </Section>
      <Section title="Auto-recharge">
        <Loaded load={load}>
          {({ cards, autoRecharge }) => (
            <AutoRecharge cards={cards} state={autoRecharge} onSaved={load.reload} />
          )}
        </Loaded>
      </Section>
    </PaymentsPage>
  );
}

function CardTable({ cards, onRemove }: { cards: readonly PaymentMethod[]; onRemove: () => Promise<void> }) {
  return (
    <Table
      caption="Saved cards, newest first"
      rows={cards}
      columns={{
        Card: (card) => <span class="whole">{cardText(card)}</span>,
        Expires: ({ expiryMonth, expiryYear }) => `${String(expiryMonth).padStart(2, "0")}/${expiryYear}`,
        Use: ({ isUsedForAutoRecharge }) =>
          isUsedForAutoRecharge ? <span class="tag">Auto-recharge</span> : "Payments",
        Actions: (card) => (
          <ConfirmButton
            label="Remove"
            question={`Remove ${cardText(card)}?`}
            consequence={
              card.isUsedForAutoRecharge
                ? "Auto-recharge uses this card. Without another card, your wallet is no longer recharged."
                : "To pay with this card again, you have to enter its number."
            }
            act={async () => api().deletePaymentMethod({ params: { id: card.id } })}
            success="Card removed."
            onDone={onRemove}
          />
        ),
      }}
      empty={{
        title: "No saved cards",
        hint: "Add a card here, or save one when you pay. The payment provider stores its number.",
      }}
    />
  );
}
