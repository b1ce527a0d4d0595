import type { Wallet as WalletOf } from "../../../../shared/api/contract/wallet.ts";
import { api } from "../api.ts";
import { brand, currency, fundsLink, has } from "../features.ts";
import { DialogButton } from "../parts/dialog.tsx";
import { Form, TextField, useForm } from "../parts/form.tsx";
import { Ledger, ledgerFilters } from "../parts/ledger.tsx";
import { Loaded, useLoad, usePages, type Load } from "../parts/load.tsx";
import { amountText, currencyDecimals, Money } from "../parts/money.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Facts, LinkButton, Page, Section } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";
import type { ViewProps } from "../router.ts";
import { session } from "../session.ts";
import { amountOf } from "../typed.ts";

/** The balance, the ledger and the organization's own limits. */
export function Wallet({ query }: ViewProps) {
  const filters = ledgerFilters(query);
  const wallet = useLoad(async () => api().getWallet(), []);
  const ledger = usePages(
    async (page) => api().listTransactions({ query: { ...page, ...filters.values } }),
    Object.values(filters.values),
  );
  const changed = async (balance: WalletOf): Promise<void> => {
    wallet.replace(balance);
    await ledger.reload();
  };
  return (
    <Page
      title="Wallet"
      lead={
        <>
          Messages are prepaid, and failed messages are refunded. <a href="#/prices">Prices</a>
        </>
      }
      actions={
        <>
          {has("top-up") ? (
            <DialogButton
              label="Add free funds"
              look="plain"
              isOpenAtFirst={!has("payments") && query.has("add")}
              onDone={changed}
            >
              {(done) => <TopUp onDone={done} />}
            </DialogButton>
          ) : null}
          {has("payments") ? <LinkButton href={fundsLink[0]} label={fundsLink[1]} look="primary" /> : null}
        </>
      }
    >
      <div class="columns">
        <Section title="Balance">
          <Loaded load={wallet}>{(shown) => <Balance wallet={shown} />}</Loaded>
          {has("top-up") || has("payments") ? null : <PayOperator />}
        </Section>
        <Section title="Limits">
          <Loaded load={wallet}>{(shown) => <Limits wallet={shown} load={wallet} />}</Loaded>
        </Section>
      </div>
      <Ledger pages={ledger} filters={filters} />
    </Page>
  );
}

/** How to pay where only the operator adds funds. */
function PayOperator() {
  const { name = "", id } = session.value?.organization ?? {};
  const { supportEmail = "" } = brand;
  return (
    <p>
      To add funds, write to the gateway operator{" "}
      {supportEmail === "" ? null : <a href={`mailto:${supportEmail}`}>{supportEmail}</a>} with the amount and
      your organization, <span dir="auto">{name}</span> (<code>{id}</code>). Then pay as the operator
      instructs you. The amount appears in the ledger below when the operator has added it.
    </p>
  );
}

function Balance({ wallet }: { wallet: WalletOf }) {
  const { balance, spentToday, dailySpendCap, closedAt, updatedAt } = wallet;
  return (
    <>
      <p class="figure">
        <Money amount={balance} isShort />
      </p>
      {balance < 0 ? (
        <Notice tone="bad">
          A bank took back a payment, so your balance is negative. You cannot send messages until you pay the
          missing {amountText(-balance)}. Questions? Contact the gateway operator.
        </Notice>
      ) : null}
      {closedAt === undefined ? null : (
        <Notice tone="bad">
          The gateway operator closed this wallet on <Time at={closedAt} />. You cannot send or add funds.
          Refunds are still credited.
        </Notice>
      )}
      <Facts
        of={{
          "Charged today, before refunds": `${amountText(spentToday)}${dailySpendCap === undefined ? "" : ` of ${amountText(dailySpendCap)}`}`,
          "Exact balance": amountText(balance),
          "Last updated": <Time at={updatedAt} />,
        }}
      />
    </>
  );
}

function TopUp({ onDone }: { onDone: (wallet: WalletOf) => Promise<void> }) {
  const form = useForm({ amount: "10" }, async ({ amount }, attemptKey) => {
    const wallet = await api().topUpWallet({
      body: { amount: amountOf("amount", amount) },
      idempotencyKey: attemptKey,
    });
    announce(`Your balance is now ${amountText(wallet.balance)}.`);
    await onDone(wallet);
  });
  return (
    <Form form={form} action="Add free funds">
      <TextField
        field={form.field("amount")}
        label={`Amount (${currency})`}
        inputMode="decimal"
        hint={currencyDecimals === 0 ? "Use a whole number." : "Use at most two decimal places."}
        hasFocus
      />
    </Form>
  );
}

function Limits({ wallet, load }: { wallet: WalletOf; load: Load<WalletOf> }) {
  const initial = {
    dailySpendCap: String(wallet.dailySpendCap ?? ""),
    lowBalanceThreshold: String(wallet.lowBalanceThreshold ?? ""),
  };
  const form = useForm(initial, async ({ dailySpendCap, lowBalanceThreshold }) => {
    const body = {
      dailySpendCap: amountOrNull("dailySpendCap", dailySpendCap),
      lowBalanceThreshold: amountOrNull("lowBalanceThreshold", lowBalanceThreshold),
    };
    load.replace(await api().updateWallet({ body }));
    announce("Limits saved.");
  });
  return (
    <Form form={form} action="Save">
      <TextField
        field={form.field("dailySpendCap")}
        label={`Daily spending limit (${currency})`}
        inputMode="decimal"
        hint="Messages over the limit are rejected until midnight UTC. Leave empty to use the gateway's limit."
      />
      <TextField
        field={form.field("lowBalanceThreshold")}
        label={`Low balance warning (${currency})`}
        inputMode="decimal"
        hint="Below this balance, the overview shows a warning and webhooks receive balance.low. Leave empty for no warning."
      />
    </Form>
  );
}

function amountOrNull(field: string, text: string): number | null {
  return text.trim() === "" ? null : amountOf(field, text);
}
