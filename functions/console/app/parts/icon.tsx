/** The drawings of the menu's icons: lines on a grid of 16 by 16. */
const drawings: Readonly<Record<string, string>> = {
  "": "M2.5 2.5h4.5v6h-4.5z M9 2.5h4.5v3.5H9z M9 8h4.5v5.5H9z M2.5 10.5h4.5v3h-4.5z",
  send: "M2 8 14 2.5 9.5 14 7.5 9z M7.5 9 14 2.5",
  messages: "M2.5 4h11 M2.5 8h11 M2.5 12h7",
  "held-messages": "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11z M6.5 6v4 M9.5 6v4",
  conversations: "M2.5 3h8v5.5h-5l-3 2.5z M12.5 6h1v8l-2.5-2.5H6.5",
  verifications: "M4.5 1.5h7v13h-7z M6.5 8l1 1.5 2-3",
  contacts: "M8 2.5a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5z M3 13.5c0-5 10-5 10 0",
  templates: "M3.5 2.5h6l3 3v8h-9z M6 8h4 M6 10.5h4",
  campaigns: "M2.5 6.5v3h2.5l6 3.5v-10l-6 3.5z M13.5 6.5v3",
  "api-keys": "M5 5.5a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5z M7.5 8h6v3 M11 8v2",
  webhooks: "M2.5 5.5h9 M9 3l2.5 2.5L9 8 M13.5 10.5h-9 M7 8l-2.5 2.5L7 13",
  hooks: "M8 2.5v7a2.5 2.5 0 0 1-5 0v-1 M8 2.5h3 M8 6h4",
  wallet: "M2.5 4.5h11v8h-11z M10 8.5h3.5 M2.5 4.5l8-2v2",
  payments: "M2 4h12v8.5H2z M2 7h12 M4.5 10h3",
  usage: "M2.5 13.5h11 M4 13V9 M8 13V3.5 M12 13V6.5",
  "sender-ids": "M2.5 2.5h5.5l5.5 5.5-5.5 5.5-5.5-5.5z M5.5 5.5v.5",
  kyc: "M2.5 3.5h11v9h-11z M5 8l2 2 4-4",
  members:
    "M6 3a2 2 0 1 1 0 4a2 2 0 1 1 0-4z M2 13c0-4.5 8-4.5 8 0 M10.5 3.5a2 2 0 0 1 0 3.5 M11.5 9.5c1.5.5 2.5 1.5 2.5 3.5",
  "audit-log": "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11z M8 5v3.5l2.5 1.5",
  security: "M8 2l5 2v4c0 3-2 5-5 6.5C5 13 3 11 3 8V4z",
};

/** The icon of a view in the menu. The name beside it is its text. */
export function Icon({ of }: { of: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={drawings[of] ?? ""} />
    </svg>
  );
}
