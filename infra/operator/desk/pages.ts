import type { DeskPage, Panel } from "./protocol.ts";

/*
 * The pages of the desk. The desk offers the commands of these lines and no others: those that are rare, or read or write
 * files, stay on the command line. To add a panel, add a line.
 */

const page = (of: Omit<DeskPage, "panels">, panels: readonly Panel[]): DeskPage => ({ ...of, panels });
const panel = (title: string, line: string, more: Partial<Panel> = {}): Panel => ({ title, line, ...more });

const ofPayment = [
  "payments refund {id} --organization {organizationId}",
  "Record bank transfer: wallets credit {organizationId} --payment {id} --type payment",
];
const ofCustomer = (
  "organizations suspend|organizations resume|organizations verify-email|wallets set-daily-cap|wallets set-rate-limit|" +
  "wallets credit|wallets debit|wallets close|wallets reopen|prices set-override|prices remove-override|" +
  "destinations block --organization|destinations limit --organization"
)
  .split("|")
  .map((line) => `${line} {id}`);
const blocks = ["destinations block", "destinations limit"];
const disputes = panel("Disputes", "payments list --disputed --since 120", {
  without: ["METHOD", "STATUS", "AMOUNT", "LEFT TO DO"],
  rowActions: ofPayment,
});
const unusual = panel("Unusual customers", "organizations unusual", {
  rowActions: blocks.map((line) => `${line} --organization {organizationId}`),
});
const deliveries = panel("Deliveries", "deliveries --by carrier,country");

export const pages: readonly DeskPage[] = [
  page({ path: "", title: "Today", icon: "" }, [
    panel("Sending", "sending show", { actions: ["sending pause", "sending resume"] }),
    panel("Payments", "payments show-pause", {
      actions: ["Pause payments: payments pause", "Resume payments: payments resume"],
    }),
    deliveries,
    unusual,
    panel("Business verifications to review", "kyc list", { without: ["ID"] }),
    panel("Sender IDs to review", "sender-ids list", { without: ["ID"] }),
    disputes,
    panel("Margin of the last 7 days", "margins --days 7"),
    panel("Carriers", "carriers list"),
    panel("Parked jobs", "dead-letters list", { rowActions: ["Move back: dead-letters redrive {queue}"] }),
  ]),
  page({ path: "search", title: "Search", icon: "contacts", look: "search" }, [
    panel("Message", "messages show {text}", { when: "^msg_" }),
    panel("Payment", "payments show {text}", { when: "^pay_" }),
    panel("Messages to this number", "messages find {text}", { when: String.raw`^\+?[\d ()-]{7,}$` }),
    panel("Customers", "organizations find {text}", { when: "^(?!msg_)" }),
    panel("Sender IDs", "sender-ids find {text}", {
      when: String.raw`^(?!(msg|pay|org)_)(?=.*[A-Za-z])[\w .-]{1,11}$`,
    }),
    panel("Emails", "suppressions show {text}", { when: "@" }),
  ]),
  page({ path: "customers", title: "Customers", icon: "members" }, [
    unusual,
    panel("All customers", "organizations list", { rowActions: ["organizations suspend {id}"] }),
  ]),
  page({ path: "customers/:id", title: "Customer", actions: ofCustomer }, [
    panel("Facts and ledger", "organizations show {id}"),
    panel("Payments", "payments list --organization {id} --since 400", {
      without: ["ORGANIZATION", "AMOUNT", "LEFT TO DO"],
      rowActions: ofPayment,
    }),
    panel("Messages", "messages list --organization {id}"),
    panel("API keys and login hooks", "keys list {id}", {
      without: ["CREATED WITH", "SCOPES"],
      rowActions: ["keys disable {id} --organization {organizationId}"],
    }),
    panel("Webhooks", "webhooks list {id}", {
      without: ["CREATED WITH"],
      rowActions: ["webhooks disable {organizationId} {id}"],
    }),
    panel("Users", "users list {id}", { rowActions: ["Log out everywhere: users end-sessions {email}"] }),
    panel("Own prices", "prices list --organization {id}"),
    panel("Audit log", "audit-log {id}"),
  ]),
  page({ path: "messages/:id", title: "Message" }, [panel("Facts", "messages show {id}")]),
  page({ path: "reviews", title: "Reviews", icon: "kyc" }, [
    panel("Business verifications", "kyc list", {
      rowActions: ["kyc approve {organizationId} {id}", "kyc reject {organizationId} {id}"],
    }),
    panel("Sender IDs", "sender-ids list", {
      rowActions: ["sender-ids approve {organizationId} {id}", "sender-ids reject {organizationId} {id}"],
    }),
  ]),
  page({ path: "deliveries", title: "Deliveries", icon: "messages" }, [
    deliveries,
    panel("Revenue and cost", "margins"),
    panel("Blocked and limited destinations", "destinations list", {
      actions: blocks,
      rowActions: [
        "destinations unblock {prefix} --organization {organizationId}",
        "destinations limit {prefix} --organization {organizationId}",
      ],
    }),
  ]),
  page({ path: "payments", title: "Payments and disputes", icon: "payments", look: "tabs" }, [
    disputes,
    panel("All payments", "payments list", { without: ["AMOUNT", "LEFT TO DO"], rowActions: ofPayment }),
    panel("Unsettled", "payments list --unsettled --since 90", {
      without: ["AMOUNT"],
      rowActions: ofPayment,
    }),
    panel("Differences", "payments compare"),
    panel("For a second person", "approvals list", {
      rowActions: ["approvals approve {id}", "approvals reject {id}"],
    }),
  ]),
  page({ path: "payments/:id", title: "Payment", actions: ["payments refund {id}"] }, [
    panel("Facts", "payments show {id}"),
  ]),
  page({ path: "books", title: "Books and invoices", icon: "usage", actions: ["Close month: books close"] }, [
    panel("Months", "books list", { rowActions: ["Close month: books close {month}"] }),
    panel("Margin by customer", "margins --by organization"),
  ]),
  page({ path: "carriers", title: "Carriers and routes", icon: "send" }, [
    panel("Carriers", "carriers list", {
      rowActions: ["carriers enable {name}", "carriers disable {name}", "carriers test {name}"],
    }),
    panel("Routes", "routes list", {
      actions: ["routes set"],
      rowActions: ["routes set {PREFIX} --type {messageType}", "routes remove {PREFIX} --type {messageType}"],
    }),
    panel("Margin by carrier", "margins --by carrier"),
    panel("Prices and costs", "prices list"),
    panel("Numbers", "numbers list"),
  ]),
  page({ path: "audit", title: "Audit log", icon: "audit-log" }, [panel("Entries", "audit-log")]),
];
