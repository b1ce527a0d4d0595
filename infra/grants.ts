import type { QueueName } from "../shared/platform/queue-names.ts";
import { keyFamilies, type KeyFamily } from "../shared/platform/table/key-families.ts";

export const tableActions = [
  "BatchGetItem",
  "ConditionCheckItem",
  "DeleteItem",
  "GetItem",
  "PutItem",
  "Query",
  "UpdateItem",
] as const;
type TableAction = (typeof tableActions)[number];

export type DocumentAction = "read" | "write";

type SessionKeyAction = "GetPublicKey" | "Sign";

/** The families whose items allow each action. */
type TableAccess = { readonly [Action in TableAction]?: readonly KeyFamily[] };

/** The permissions of a function. Its role allows only these, on the local gateway as in AWS. */
export interface Access extends TableAccess {
  /** The transactions that it may write: each lists all writes of one transaction. */
  readonly transactions?: readonly TableAccess[];
  /** Whether it may list the pending work. */
  readonly pendingWork?: true;
  /** The queues to which it may send. */
  readonly queues?: readonly QueueName[];
  /** Whether it may read or add the PDFs of invoices. No function may change or delete them. */
  readonly documents?: readonly DocumentAction[];
  /** The actions with the key of session tokens: `Sign` starts sessions, `GetPublicKey` is enough to check them. */
  readonly sessionKey?: readonly SessionKeyAction[];
  /** Whether it may read the key that seals the secrets of webhooks. */
  readonly webhookKey?: true;
  /** Whether it may read the secrets that verify carrier callbacks. */
  readonly callbackSecrets?: true;
  /** Whether it may read the key that seals the secrets of second factors. */
  readonly secondFactorKey?: true;
  /** Whether it may submit messages to carriers, and read their credentials. */
  readonly carrier?: true;
  /** Whether it may send emails from the stage's address. */
  readonly email?: true;
  /** Whether it knows how customers pay. */
  readonly paymentTerms?: true;
  /** Whether it may call the payment provider, and read the keys for that. */
  readonly paymentProvider?: true;
  /** Whether it knows the public address of the gateway, for links. */
  readonly links?: true;
  /** Whether it knows the brand of the stage. */
  readonly brand?: true;
  /** Whether its code includes the images of the brand. */
  readonly brandImages?: true;
  /** Whether it knows the commit that it was built from. Each commit changes such a function. */
  readonly commit?: true;
}

/** Combines several grants. */
export function grant(...grants: readonly Access[]): Access {
  return grants.reduce(combine, {});
}

function combine(one: Access, other: Access): Access {
  const table: TableAccess = Object.fromEntries(
    tableActions.map((action) => [action, union(one[action], other[action])]),
  );
  return {
    ...one,
    ...other,
    ...table,
    transactions: union(one.transactions, other.transactions),
    queues: union(one.queues, other.queues),
    documents: union(one.documents, other.documents),
    sessionKey: union(one.sessionKey, other.sessionKey),
  };
}

function union<T>(one: readonly T[] = [], other: readonly T[] = []): readonly T[] {
  return [...new Set([...one, ...other])];
}

/** Returns the families that allow an action, alone or in a transaction. */
export function familiesOf(access: Access, action: TableAction): KeyFamily[] {
  return inOrder([access, ...(access.transactions ?? [])].flatMap((each) => each[action] ?? []));
}

/** Returns the families of all writes in the transactions with the action, including its own. */
export function familiesBeside({ transactions = [] }: Access, action: TableAction): KeyFamily[] {
  const withAction = transactions.filter((each) => familiesOf(each, action).length > 0);
  return inOrder(withAction.flatMap((each) => tableActions.flatMap((beside) => each[beside] ?? [])));
}

/** Returns each family once, in one order for all policies. */
function inOrder(families: readonly KeyFamily[]): KeyFamily[] {
  return keyFamilies.filter((family) => families.includes(family));
}

/*
 * The grants that several functions need.
 */

/** To change a balance together with the ledger entry of the change, or to charge for messages. */
export const changesWallet: Access = {
  GetItem: ["WALLET", "LEDGER"],
  PutItem: ["LEDGER"],
  UpdateItem: ["WALLET"],
  transactions: [{ PutItem: ["LEDGER"], UpdateItem: ["WALLET"] }],
};

/** To check callers and their sender IDs against the policies of the stage. */
export const checksSender: Access = { GetItem: ["ORG", "RIGHTS", "SENDER"] };

/** To read the prices of messages. */
export const readsPrices: Access = { GetItem: ["PRICES"], Query: ["PRICES"] };

/** To notify customers of a low balance or a reached daily spend cap, and to start recharges. */
export const notifiesOfWallet: Access = {
  transactions: [{ PutItem: ["DUE"], UpdateItem: ["WALLET"] }],
  queues: ["payments", "webhookDeliveries"],
};

/** To read how customers pay and their billing details. */
export const readsBilling: Access = { GetItem: ["BILLING", "ORG"], paymentTerms: true };

/** To call the payment provider for a customer. */
export const callsProvider = grant(readsBilling, {
  UpdateItem: ["BILLING"],
  links: true,
  paymentProvider: true,
});

/** To start a payment of a customer. */
export const startsPayment = grant(callsProvider, {
  GetItem: ["SENDING", "WALLET"],
  transactions: [
    { PutItem: ["PAYMENTS"], UpdateItem: ["IDEMPOTENCY", "LIMIT"], ConditionCheckItem: ["WALLET"] },
  ],
  queues: ["payments"],
});

/** To bring payments to the state that they have at the provider: their movements, documents and emails. */
export const processesPayments = grant(changesWallet, notifiesOfWallet, callsProvider, {
  GetItem: ["PAYMENTS", "REFERENCE", "INVOICES", "INVOICE_NUMBERS", "SENDING"],
  UpdateItem: ["PAYMENTS", "INVOICE_NUMBERS"],
  transactions: [
    { PutItem: ["LEDGER", "REFERENCE", "DUE"], UpdateItem: ["WALLET", "PAYMENTS"] },
    { PutItem: ["PAYMENTS", "DUE"], UpdateItem: ["BILLING", "WALLET", "PAYMENTS"] },
    { PutItem: ["PAYMENTS"], UpdateItem: ["BILLING", "LIMIT"], ConditionCheckItem: ["WALLET"] },
    { PutItem: ["INVOICES", "INVOICE_NUMBERS"], UpdateItem: ["INVOICE_NUMBERS", "PAYMENTS"] },
  ],
  queues: ["emails"],
  documents: ["read", "write"],
  brand: true,
});

/** To accept messages: charge for them, record them, and queue or schedule them. */
export const acceptsMessages = grant(changesWallet, notifiesOfWallet, checksSender, readsPrices, {
  GetItem: ["OPT_OUTS"],
  PutItem: ["MESSAGES"],
  UpdateItem: ["STATS", "LIMIT"],
  DeleteItem: ["MESSAGES"],
  transactions: [{ PutItem: ["LEDGER", "MESSAGES", "DUE", "HELD"], UpdateItem: ["IDEMPOTENCY"] }],
  queues: ["transactionalSends", "marketingSends"],
});

/** To create a user with an organization and its wallet. */
export const createsAccount: Access = {
  transactions: [
    {
      PutItem: [
        "USER",
        "CREDENTIALS",
        "MEMBERS",
        "EMAIL",
        "ORG",
        "RIGHTS",
        "WALLET",
        "WALLETS",
        "AUDIT",
        "DUE",
      ],
    },
  ],
  queues: ["emails"],
};

/** To accept or reject a held message. */
export const decidesAboutHeld = grant(acceptsMessages, {
  GetItem: ["HELD"],
  UpdateItem: ["HELD"],
  transactions: [{ UpdateItem: ["HELD"] }],
});

/** To authenticate and authorize a caller, and to record the use of a key. */
export const authenticates: Access = {
  GetItem: ["KEY", "MEMBERS", "ORG", "USER"],
  BatchGetItem: ["KEY", "ORG"],
  UpdateItem: ["KEY_USES", "LIMIT"],
  sessionKey: ["GetPublicKey"],
};

/** To execute a request once for each Idempotency-Key. */
export const storesResponses: Access = {
  GetItem: ["IDEMPOTENCY"],
  PutItem: ["IDEMPOTENCY"],
  UpdateItem: ["IDEMPOTENCY"],
  DeleteItem: ["IDEMPOTENCY"],
};

/** To store emails to all owners in the transaction of a change. */
export const notifiesOwners: Access = {
  GetItem: ["RIGHTS", "USER"],
  transactions: [{ PutItem: ["DUE"] }],
  queues: ["emails"],
};

/** To append to the audit log. No function may change or delete its entries. */
export const isAudited: Access = { PutItem: ["AUDIT"] };

/** To check a password or a code, within the limits of a login. */
export const checksCredentials: Access = {
  GetItem: ["CREDENTIALS", "KNOWN_NETWORK"],
  UpdateItem: ["LIMIT"],
};

/** To disable the API keys of a member or of an organization. */
export const endsKeys: Access = {
  GetItem: ["ORG"],
  Query: ["ORG"],
  transactions: [{ UpdateItem: ["ORG", "KEY"] }],
};

/** To remove a member or an invitation, and to end API keys. */
export const removesMembers = grant(endsKeys, {
  GetItem: ["RIGHTS", "USER", "MEMBERS", "INVITATION"],
  transactions: [
    {
      PutItem: ["DUE"],
      UpdateItem: ["USER", "ORG", "RIGHTS"],
      DeleteItem: ["USER", "EMAIL", "CREDENTIALS", "EMAIL_TOKEN", "MEMBERS", "INVITATION"],
      ConditionCheckItem: ["MEMBERS"],
    },
  ],
  queues: ["emails"],
});

/** To add contacts. Those whose number has opted out note it. */
export const addsContacts: Access = {
  GetItem: ["OPT_OUTS"],
  transactions: [{ PutItem: ["CONTACTS"], UpdateItem: ["OPT_OUTS", "ORG"] }],
};

/** To add and remove opt-outs, and to record them on the contacts with these numbers. */
export const changesOptOuts: Access = {
  GetItem: ["CONTACTS", "OPT_OUTS"],
  transactions: [{ UpdateItem: ["CONTACTS", "OPT_OUTS"], DeleteItem: ["OPT_OUTS"] }],
};

/** To accept carrier callbacks. */
export const acceptsCallbacks: Access = {
  Query: ["CARRIERS"],
  queues: ["carrierCallbacks"],
  callbackSecrets: true,
};
