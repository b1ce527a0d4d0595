import type { FunctionComponent } from "preact";

import { useLoad, Waiting } from "./parts/load.tsx";
import { Announcements, Notice } from "./parts/notice.tsx";
import { Page } from "./parts/page.tsx";
import { notAllowed } from "./problems.ts";
import { ActionScope, mayOpen, readRights, scopeOfActions } from "./rights.ts";
import { here, match, type ViewProps } from "./router.ts";
import { session } from "./session.ts";
import { Navigation } from "./views/navigation.tsx";
import { Reauthentication } from "./views/reauthentication.tsx";
import { SessionEnd } from "./views/session-end.tsx";

type View = FunctionComponent<ViewProps>;

/** The views by address. Each file is loaded when its view is first opened. */
const views: Readonly<Record<string, () => Promise<View>>> = {
  "": async () => (await import("./views/overview.tsx")).Overview,
  send: async () => (await import("./views/send.tsx")).Send,
  messages: async () => (await import("./views/messages.tsx")).Messages,
  "messages/:id": async () => (await import("./views/message.tsx")).Message,
  conversations: async () => (await import("./views/conversations.tsx")).Conversations,
  "conversations/:id": async () => (await import("./views/conversation.tsx")).Conversation,
  inbound: async () => (await import("./views/inbound.tsx")).Inbound,
  contacts: async () => (await import("./views/contacts.tsx")).Contacts,
  "contacts/import": async () => (await import("./views/contacts-import.tsx")).ContactsImport,
  "contacts/:id": async () => (await import("./views/contact.tsx")).Contact,
  "opt-outs": async () => (await import("./views/opt-outs.tsx")).OptOuts,
  "exports/:id": async () => (await import("./views/export.tsx")).Export,
  "held-messages": async () => (await import("./views/held-messages.tsx")).HeldMessages,
  verifications: async () => (await import("./views/verifications.tsx")).Verifications,
  "verification-profiles": async () =>
    (await import("./views/verification-profiles.tsx")).VerificationProfiles,
  templates: async () => (await import("./views/templates.tsx")).Templates,
  "templates/new": async () => (await import("./views/template.tsx")).NewTemplate,
  "templates/:id": async () => (await import("./views/template.tsx")).Template,
  campaigns: async () => (await import("./views/campaigns.tsx")).Campaigns,
  "campaigns/new": async () => (await import("./views/campaign-new.tsx")).NewCampaign,
  "campaigns/:id/edit": async () => (await import("./views/campaign-new.tsx")).EditCampaign,
  "campaigns/:id/people": async () => (await import("./views/campaign-people.tsx")).CampaignPeople,
  "campaigns/:id": async () => (await import("./views/campaign.tsx")).Campaign,
  "api-keys": async () => (await import("./views/api-keys.tsx")).ApiKeys,
  webhooks: async () => (await import("./views/webhooks.tsx")).Webhooks,
  "webhooks/:id": async () => (await import("./views/webhook.tsx")).Webhook,
  hooks: async () => (await import("./views/hooks.tsx")).Hooks,
  wallet: async () => (await import("./views/wallet.tsx")).Wallet,
  usage: async () => (await import("./views/usage.tsx")).Usage,
  payments: async () => (await import("./views/payments.tsx")).Payments,
  "payments/cards": async () => (await import("./views/cards.tsx")).Cards,
  "payments/invoices": async () => (await import("./views/invoices.tsx")).Invoices,
  "payments/billing": async () => (await import("./views/billing.tsx")).Billing,
  "payments/:id": async () => (await import("./views/payment.tsx")).Payment,
  prices: async () => (await import("./views/prices.tsx")).Prices,
  "sender-ids": async () => (await import("./views/sender-ids.tsx")).SenderIds,
  kyc: async () => (await import("./views/kyc.tsx")).Kyc,
  members: async () => (await import("./views/members.tsx")).Members,
  "audit-log": async () => (await import("./views/audit-log.tsx")).AuditLog,
  security: async () => (await import("./views/security.tsx")).Security,
};

/** The views without a login. */
const publicViews: Readonly<Record<string, () => Promise<View>>> = {
  "sign-up": async () => (await import("./views/sign-up.tsx")).SignUp,
  "forgot-password": async () => (await import("./views/forgot-password.tsx")).ForgotPassword,
};

const login = async (): Promise<View> => (await import("./views/login.tsx")).Login;

/** The console: the login for visitors, and for users the view of the address. */
export function App() {
  const isLoggedIn = session.value !== undefined;
  const found = find(isLoggedIn ? views : publicViews);
  // After the login, the requested view opens at the same address.
  const load = found?.load ?? (isLoggedIn ? undefined : login);
  if (isLoggedIn && find(publicViews) !== undefined) location.replace("#/");
  return (
    <>
      {isLoggedIn ? <Navigation /> : null}
      <main id="main" class={isLoggedIn ? "view" : "door"}>
        {load === undefined ? (
          <NotFound key={here.value.parts.join("/")} />
        ) : (
          <LazyView
            // A different path resets the view and its forms; a different query does not.
            key={`${String(isLoggedIn)} ${here.value.parts.join("/")}`}
            load={load}
            path={here.value.parts.join("/")}
            id={found?.id ?? ""}
            query={here.value.query}
          />
        )}
      </main>
      <Announcements />
      {isLoggedIn ? <Reauthentication /> : null}
      {isLoggedIn ? <SessionEnd /> : null}
    </>
  );
}

function find(table: typeof views): { load: () => Promise<View>; id: string } | undefined {
  for (const [pattern, load] of Object.entries(table)) {
    const id = match(pattern, here.value);
    if (id !== undefined) return { load, id };
  }
  return undefined;
}

function LazyView({ load, path, ...props }: ViewProps & { load: () => Promise<View>; path: string }) {
  const { data: Shown, error } = useLoad(async () => (await Promise.all([load(), readRights()]))[0], []);
  if (error !== undefined) {
    return (
      <Notice tone="bad">
        <p>This page could not be loaded. Check your connection, then reload the page.</p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Notice>
    );
  }
  if (Shown === undefined) return <Waiting />;
  if (!mayOpen(path))
    return <NotFound title="Not available" reason={`${notAllowed.message} ${notAllowed.remedy}`} />;
  return (
    <ActionScope.Provider value={scopeOfActions(path)}>
      <Shown {...props} />
    </ActionScope.Provider>
  );
}

function NotFound({ title = "Page not found", reason = "" }) {
  return (
    <Page title={title}>
      <p>
        {reason} Go to the <a href="#/">overview</a>, or choose a page from the menu.
      </p>
    </Page>
  );
}
