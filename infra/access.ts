import type { QueueName } from "../shared/platform/jobs/queue-names.ts";
import { keyFamilies, type KeyFamily } from "../shared/platform/table/keys.ts";
import type { Operation } from "../shared/routes.ts";
import type { Route } from "../shared/routes/route.ts";

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

type SessionKeyAction = "GetPublicKey" | "Sign";

/** The allowed actions on the items of each family. */
type TableAccess = { readonly [Family in KeyFamily]?: readonly TableAction[] };

/** The permissions of a function. Its role allows only these, on the local gateway as in AWS. */
export interface Access {
  readonly table?: TableAccess;
  /** The transactions that it may write: each lists all writes of one transaction. */
  readonly transactions?: readonly TableAccess[];
  /** Whether it may list the pending work. */
  readonly agenda?: true;
  /** The queues to which it may send. */
  readonly queues?: readonly QueueName[];
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
  /** Whether it knows the commit that it was built from. Each commit changes such a function. */
  readonly commit?: true;
}

/*
 * Grants that several functions need.
 */

/** To change a balance together with the ledger entry of the change, or to charge for messages. */
export const changesWallet = {
  table: { WALLET: ["GetItem", "UpdateItem"], LEDGER: ["GetItem", "PutItem"] },
  transactions: [{ WALLET: ["UpdateItem"], LEDGER: ["PutItem"] }],
} as const satisfies Access;

/** To check callers and their sender IDs against the policies of the stage. */
export const checksSender = {
  ORG: ["GetItem"],
  RIGHTS: ["GetItem"],
  SENDER: ["GetItem"],
} as const satisfies TableAccess;
const checksMessages = {
  ...checksSender,
  OPT_OUTS: ["GetItem"],
} as const satisfies TableAccess;

/** To read the prices of messages. */
export const readsPrices = { PRICES: ["GetItem", "Query"] } as const satisfies TableAccess;

/** To notify customers of a low balance, or of a reached daily spend cap. */
export const tellsOfWallet = {
  transactions: [{ WALLET: ["UpdateItem"], DUE: ["PutItem"] }],
  queues: ["webhookDeliveries"],
} as const satisfies Access;

/** To accept messages: charge for them, record them, and queue or schedule them. */
const acceptsMessages = grant(changesWallet, tellsOfWallet, {
  table: {
    ...checksMessages,
    ...readsPrices,
    MESSAGES: ["PutItem", "DeleteItem"],
    STATS: ["UpdateItem"],
    LIMIT: ["UpdateItem"],
  },
  transactions: [
    { LEDGER: ["PutItem"], MESSAGES: ["PutItem"], DUE: ["PutItem"], IDEMPOTENCY: ["UpdateItem"] },
  ],
  queues: ["transactionalSends", "marketingSends"],
});

/** To authenticate and authorize a caller, and to record the use of a key. */
const authenticates: Access = {
  table: {
    KEY: ["BatchGetItem", "GetItem"],
    KEY_USES: ["UpdateItem"],
    LIMIT: ["UpdateItem"],
    MEMBERS: ["GetItem"],
    ORG: ["BatchGetItem", "GetItem"],
    USER: ["GetItem"],
  },
  sessionKey: ["GetPublicKey"],
};

/** To execute a request once for each Idempotency-Key. */
const remembersAnswers: Access = {
  table: { IDEMPOTENCY: ["GetItem", "PutItem", "UpdateItem", "DeleteItem"] },
};

/** To check a password or a code, within the limits of a login. */
const checksCredentials = {
  CREDENTIALS: ["GetItem"],
  LIMIT: ["UpdateItem"],
  KNOWN_NETWORK: ["GetItem"],
} as const satisfies TableAccess;

/** To remove a member or an invitation, and to end API keys. */
const removesMembers = {
  table: {
    RIGHTS: ["GetItem"],
    USER: ["GetItem"],
    MEMBERS: ["GetItem"],
    INVITATION: ["GetItem"],
    ORG: ["GetItem", "Query"],
  },
  transactions: [
    {
      USER: ["UpdateItem", "DeleteItem"],
      EMAIL: ["DeleteItem"],
      CREDENTIALS: ["DeleteItem"],
      EMAIL_TOKEN: ["DeleteItem"],
      MEMBERS: ["ConditionCheckItem", "DeleteItem"],
      INVITATION: ["DeleteItem"],
      ORG: ["UpdateItem"],
      RIGHTS: ["UpdateItem"],
      DUE: ["PutItem"],
    },
    { ORG: ["UpdateItem"], KEY: ["UpdateItem"] },
  ],
  queues: ["emails"],
} as const satisfies Access;

/** To delete what was created in an account before its email was verified. */
const endsUnproven = grant(removesMembers, {
  table: { MEMBERS: ["Query"] },
  transactions: [{ ORG: ["UpdateItem", "DeleteItem"], WEBHOOK_SECRETS: ["DeleteItem"] }],
});

/** To erase an account with an unverified email and an unchanged wallet. */
export const expiresAccounts = {
  agenda: true,
  table: {
    CAMPAIGNS: ["Query", "DeleteItem"],
    CONTACTS: ["Query", "DeleteItem"],
    CREDENTIALS: ["Query", "DeleteItem"],
    DELIVERIES: ["Query", "DeleteItem"],
    EMAIL: ["DeleteItem"],
    EMAIL_TOKEN: ["Query", "DeleteItem"],
    INBOUND: ["Query", "DeleteItem"],
    INVITATION: ["Query", "DeleteItem"],
    KEY: ["DeleteItem"],
    KEY_USES: ["Query", "DeleteItem"],
    KYC: ["Query", "DeleteItem"],
    MEMBERS: ["Query", "DeleteItem"],
    MESSAGES: ["Query", "DeleteItem"],
    NUMBERS: ["Query"],
    INFLIGHT: ["DeleteItem"],
    OPT_OUTS: ["Query", "DeleteItem"],
    ORG: ["GetItem", "Query", "DeleteItem"],
    PRICES: ["Query", "DeleteItem"],
    REVIEWS: ["DeleteItem"],
    RIGHTS: ["DeleteItem"],
    SENDER: ["UpdateItem", "DeleteItem"],
    STATS: ["Query", "DeleteItem"],
    TEMPLATES: ["Query", "DeleteItem"],
    USER: ["GetItem", "Query", "DeleteItem"],
    WALLET: ["DeleteItem"],
    WALLETS: ["DeleteItem"],
    WEBHOOK_SECRETS: ["DeleteItem"],
  },
  transactions: [{ ORG: ["UpdateItem"], WALLET: ["UpdateItem"] }],
} as const satisfies Access;

/** To append to the audit log. No function may change or delete its entries. */
const isAudited = { table: { AUDIT: ["PutItem"] } } as const satisfies Access;

const addsContacts: Access = {
  table: { OPT_OUTS: ["GetItem"] },
  transactions: [{ CONTACTS: ["PutItem"], OPT_OUTS: ["UpdateItem"], ORG: ["UpdateItem"] }],
};

/** To add and remove opt-outs, and to record them on the contacts with these numbers. */
export const changesOptOuts = {
  table: { CONTACTS: ["GetItem"], OPT_OUTS: ["GetItem"] },
  transactions: [{ CONTACTS: ["UpdateItem"], OPT_OUTS: ["UpdateItem", "DeleteItem"] }],
} as const satisfies Access;

/** To accept carrier callbacks. */
const receivesCallbacks: Access = {
  table: { CARRIERS: ["Query"] },
  queues: ["carrierCallbacks"],
  callbackSecrets: true,
};

/** The permissions of each operation's function, without those that follow from its route. */
const accessOfOperation: Readonly<Record<Operation, Access>> = {
  getHealth: { commit: true },
  register: {
    table: { LIMIT: ["UpdateItem"] },
    transactions: [
      {
        USER: ["PutItem"],
        CREDENTIALS: ["PutItem"],
        MEMBERS: ["PutItem"],
        EMAIL: ["PutItem"],
        ORG: ["PutItem"],
        RIGHTS: ["PutItem"],
        WALLET: ["PutItem"],
        WALLETS: ["PutItem"],
        AUDIT: ["PutItem"],
        DUE: ["PutItem"],
      },
    ],
    queues: ["emails"],
    sessionKey: ["Sign"],
  },
  login: {
    table: {
      ...isAudited.table,
      ...checksCredentials,
      USER: ["GetItem"],
      CREDENTIALS: ["GetItem", "UpdateItem"],
      EMAIL: ["GetItem"],
      ORG: ["GetItem"],
      KNOWN_NETWORK: ["GetItem", "PutItem"],
    },
    sessionKey: ["Sign"],
    secondFactorKey: true,
  },
  reauthenticate: {
    table: { ...checksCredentials, USER: ["UpdateItem"], CREDENTIALS: ["GetItem", "UpdateItem"] },
    secondFactorKey: true,
  },
  logout: { table: { USER: ["UpdateItem"] } },
  logoutEverywhere: { table: { USER: ["UpdateItem"] } },
  requestEmailVerification: {
    table: { USER: ["GetItem"], EMAIL_SUPPRESSION: ["GetItem"], LIMIT: ["UpdateItem"] },
    queues: ["emails"],
  },
  verifyEmail: grant(endsUnproven, {
    table: { ...checksCredentials, EMAIL_TOKEN: ["GetItem"] },
    transactions: [
      {
        EMAIL_TOKEN: ["DeleteItem"],
        USER: ["UpdateItem"],
        ORG: ["UpdateItem"],
        RIGHTS: ["UpdateItem"],
        AUDIT: ["PutItem"],
      },
    ],
  }),
  acceptInvitation: {
    table: {
      RIGHTS: ["GetItem"],
      EMAIL_TOKEN: ["GetItem"],
      INVITATION: ["GetItem"],
      ORG: ["GetItem"],
      USER: ["GetItem"],
    },
    transactions: [
      {
        EMAIL: ["PutItem"],
        EMAIL_TOKEN: ["DeleteItem"],
        INVITATION: ["DeleteItem"],
        MEMBERS: ["ConditionCheckItem", "PutItem", "DeleteItem"],
        USER: ["ConditionCheckItem", "PutItem"],
        CREDENTIALS: ["PutItem"],
        ORG: ["UpdateItem"],
        RIGHTS: ["UpdateItem"],
        AUDIT: ["PutItem"],
        DUE: ["PutItem"],
      },
    ],
    queues: ["emails"],
  },
  startTotp: {
    table: { ...checksCredentials, CREDENTIALS: ["GetItem", "PutItem"], SEALING_KEYS: ["PutItem"] },
    secondFactorKey: true,
  },
  confirmTotp: {
    table: checksCredentials,
    transactions: [{ USER: ["UpdateItem"], CREDENTIALS: ["UpdateItem"], DUE: ["PutItem"] }],
    queues: ["emails"],
    secondFactorKey: true,
  },
  deleteTotp: {
    table: { ...checksCredentials, CREDENTIALS: ["GetItem", "UpdateItem"], RIGHTS: ["GetItem"] },
    transactions: [{ USER: ["UpdateItem"], CREDENTIALS: ["DeleteItem"], DUE: ["PutItem"] }],
    queues: ["emails"],
    secondFactorKey: true,
  },
  requestPasswordReset: { table: { LIMIT: ["UpdateItem"] }, queues: ["emails"] },
  resetPassword: grant(endsUnproven, {
    table: { EMAIL_TOKEN: ["GetItem"] },
    transactions: [
      {
        EMAIL_TOKEN: ["DeleteItem"],
        CREDENTIALS: ["PutItem", "DeleteItem"],
        USER: ["UpdateItem"],
        ORG: ["UpdateItem"],
        RIGHTS: ["UpdateItem"],
        AUDIT: ["PutItem"],
        DUE: ["PutItem"],
      },
    ],
    queues: ["emails"],
  }),
  changePassword: {
    table: {
      USER: ["GetItem"],
      CREDENTIALS: ["GetItem"],
      LIMIT: ["UpdateItem"],
      KNOWN_NETWORK: ["GetItem"],
    },
    transactions: [{ CREDENTIALS: ["PutItem"], USER: ["UpdateItem"], DUE: ["PutItem"] }],
    queues: ["emails"],
  },
  getAccountPage: {},
  getMe: { table: { USER: ["GetItem"] } },
  listApiKeys: { table: { ORG: ["Query"], KEY_USES: ["Query"] } },
  createApiKey: {
    table: { ORG: ["GetItem"], RIGHTS: ["GetItem"] },
    transactions: [
      {
        ORG: ["PutItem", "UpdateItem"],
        KEY: ["PutItem"],
        USER: ["ConditionCheckItem"],
        MEMBERS: ["ConditionCheckItem"],
        DUE: ["PutItem"],
      },
    ],
    queues: ["emails"],
  },
  rotateApiKey: {
    table: { ORG: ["GetItem"], RIGHTS: ["GetItem"] },
    transactions: [
      {
        ORG: ["PutItem", "UpdateItem"],
        KEY: ["PutItem", "UpdateItem"],
        USER: ["ConditionCheckItem"],
        MEMBERS: ["ConditionCheckItem"],
        DUE: ["PutItem"],
      },
    ],
    queues: ["emails"],
  },
  disableApiKey: {
    table: { ORG: ["GetItem", "Query"], KEY_USES: ["GetItem"] },
    transactions: [{ ORG: ["UpdateItem"], KEY: ["UpdateItem"] }],
  },
  deleteApiKey: {
    table: { ORG: ["GetItem"] },
    transactions: [{ ORG: ["DeleteItem", "UpdateItem"], KEY: ["DeleteItem"], KEY_USES: ["DeleteItem"] }],
  },
  revokeAllApiKeys: {
    table: { ORG: ["GetItem", "Query"] },
    transactions: [{ ORG: ["UpdateItem"], KEY: ["UpdateItem"] }],
  },
  listMembers: { table: { MEMBERS: ["Query"], USER: ["GetItem"], INVITATION: ["GetItem"] } },
  inviteMember: {
    table: {
      MEMBERS: ["GetItem", "Query"],
      RIGHTS: ["GetItem"],
      USER: ["GetItem"],
      INVITATION: ["GetItem"],
      LIMIT: ["UpdateItem"],
    },
    transactions: [{ MEMBERS: ["PutItem"], INVITATION: ["PutItem"], ORG: ["UpdateItem"], DUE: ["PutItem"] }],
    queues: ["emails"],
  },
  updateMember: {
    table: {
      RIGHTS: ["GetItem"],
      USER: ["GetItem"],
      INVITATION: ["GetItem"],
      ORG: ["GetItem", "Query"],
    },
    transactions: [
      {
        USER: ["ConditionCheckItem"],
        MEMBERS: ["UpdateItem"],
        RIGHTS: ["UpdateItem"],
        INVITATION: ["UpdateItem"],
        DUE: ["PutItem"],
      },
      { ORG: ["UpdateItem"], KEY: ["UpdateItem"] },
    ],
    queues: ["emails"],
  },
  deleteMember: removesMembers,
  sendSms: acceptsMessages,
  estimateSms: { table: { ...readsPrices, WALLET: ["GetItem"] } },
  listSms: { table: { MESSAGES: ["Query"], WALLET: ["GetItem"] } },
  getSms: { table: { MESSAGES: ["GetItem"] } },
  cancelSms: grant(changesWallet, {
    table: { MESSAGES: ["GetItem"], STATS: ["UpdateItem"] },
    transactions: [{ WALLET: ["UpdateItem"], LEDGER: ["PutItem"], MESSAGES: ["UpdateItem"] }],
  }),
  listPrices: { table: readsPrices },
  listCampaigns: { table: { CAMPAIGNS: ["Query"], ORG: ["GetItem"], STATS: ["Query"] } },
  createCampaign: {
    table: { ...checksSender, TEMPLATES: ["GetItem"] },
    transactions: [
      {
        ORG: ["UpdateItem"],
        CAMPAIGNS: ["PutItem"],
        DUE: ["PutItem"],
        IDEMPOTENCY: ["UpdateItem"],
      },
    ],
    queues: ["campaigns"],
  },
  getCampaign: { table: { CAMPAIGNS: ["GetItem"], STATS: ["GetItem"] } },
  launchCampaign: {
    table: { ...checksSender, CAMPAIGNS: ["GetItem"], STATS: ["GetItem"] },
    transactions: [{ CAMPAIGNS: ["UpdateItem"], DUE: ["PutItem"] }],
    queues: ["campaigns"],
  },
  cancelCampaign: {
    table: { CAMPAIGNS: ["GetItem"], STATS: ["GetItem"] },
    transactions: [{ CAMPAIGNS: ["UpdateItem"] }],
  },
  getDashboardStats: { table: { WALLET: ["GetItem"], STATS: ["Query"] } },
  getWallet: { table: { WALLET: ["GetItem"] } },
  updateWallet: { table: { WALLET: ["GetItem", "UpdateItem"] } },
  listTransactions: { table: { WALLET: ["GetItem"], LEDGER: ["Query"] } },
  topUpWallet: grant(changesWallet, {
    transactions: [{ WALLET: ["UpdateItem"], LEDGER: ["PutItem"], IDEMPOTENCY: ["UpdateItem"] }],
  }),
  listWebhooks: { table: { INFLIGHT: ["GetItem"], ORG: ["Query"] } },
  createWebhook: {
    table: { WALLET: ["GetItem"], SEALING_KEYS: ["PutItem"] },
    transactions: [{ ORG: ["PutItem", "UpdateItem"], WEBHOOK_SECRETS: ["PutItem"] }],
    webhookKey: true,
  },
  deleteWebhook: {
    table: { INFLIGHT: ["GetItem"], ORG: ["GetItem"] },
    transactions: [{ ORG: ["DeleteItem", "UpdateItem"], WEBHOOK_SECRETS: ["DeleteItem"] }],
  },
  getWebhook: { table: { INFLIGHT: ["GetItem"], ORG: ["GetItem"] } },
  updateWebhook: { table: { ORG: ["GetItem", "UpdateItem"], INFLIGHT: ["GetItem", "UpdateItem"] } },
  rotateWebhookSecret: {
    table: {
      INFLIGHT: ["GetItem"],
      ORG: ["GetItem"],
      SEALING_KEYS: ["PutItem"],
      WEBHOOK_SECRETS: ["GetItem", "UpdateItem"],
    },
    webhookKey: true,
  },
  testWebhook: {
    table: { ORG: ["GetItem"], LIMIT: ["UpdateItem"], DELIVERIES: ["GetItem", "PutItem"] },
    queues: ["webhookRetries"],
  },
  listWebhookDeliveries: { table: { ORG: ["GetItem"], DELIVERIES: ["Query"] } },
  retryWebhookDelivery: {
    table: { ORG: ["GetItem"], LIMIT: ["UpdateItem"], DELIVERIES: ["UpdateItem"] },
    queues: ["webhookRetries"],
  },
  getKyc: { table: { KYC: ["GetItem"] } },
  submitKyc: {
    table: { KYC: ["GetItem"] },
    transactions: [{ KYC: ["PutItem"], REVIEWS: ["PutItem", "DeleteItem"] }],
  },
  listSenderIds: { table: { ORG: ["GetItem", "Query"] } },
  createSenderId: {
    table: { ORG: ["GetItem"] },
    transactions: [{ ORG: ["PutItem", "UpdateItem"], REVIEWS: ["PutItem"] }],
  },
  setDefaultSenderId: { table: { ORG: ["GetItem", "Query"] }, transactions: [{ ORG: ["UpdateItem"] }] },
  listContacts: { table: { CONTACTS: ["Query"], ORG: ["GetItem"] } },
  createContact: addsContacts,
  importContacts: addsContacts,
  getContact: { table: { CONTACTS: ["GetItem"] } },
  updateContact: {
    table: { CONTACTS: ["GetItem"], OPT_OUTS: ["GetItem"] },
    transactions: [
      { CONTACTS: ["PutItem", "UpdateItem", "DeleteItem"], OPT_OUTS: ["UpdateItem", "DeleteItem"] },
    ],
  },
  deleteContact: {
    table: { CONTACTS: ["GetItem"] },
    transactions: [{ CONTACTS: ["DeleteItem"], ORG: ["UpdateItem"] }],
  },
  listOptOuts: { table: { OPT_OUTS: ["Query"] } },
  createOptOut: changesOptOuts,
  getOptOut: { table: { OPT_OUTS: ["GetItem"] } },
  deleteOptOut: changesOptOuts,
  listInbound: { table: { INBOUND: ["Query"] } },
  listNumbers: { table: { NUMBERS: ["Query"] } },
  listTemplates: { table: { TEMPLATES: ["Query"], ORG: ["GetItem"] } },
  createTemplate: { transactions: [{ TEMPLATES: ["PutItem"], ORG: ["UpdateItem"] }] },
  getTemplate: { table: { TEMPLATES: ["GetItem"] } },
  updateTemplate: { table: { TEMPLATES: ["GetItem", "UpdateItem"] } },
  deleteTemplate: { transactions: [{ TEMPLATES: ["DeleteItem"], ORG: ["UpdateItem"] }] },
  sendTemplate: grant(acceptsMessages, { table: { TEMPLATES: ["GetItem"] } }),
  listAuditLog: { table: { AUDIT: ["Query"] } },
  getCarrierCallback: receivesCallbacks,
  postCarrierCallback: receivesCallbacks,
  getConsole: {},
  getConsoleFile: {},
  getRoot: {},
  getOpenApi: {},
  getDocs: {},
  getDocsFile: {},
};

/** Returns the permissions of an operation's function: those of its row above and those of its route. */
export function accessOf(operation: Operation, route: Route): Access {
  return grant(
    accessOfOperation[operation],
    route.auth === "none" ? {} : authenticates,
    route.idempotent === true ? remembersAnswers : {},
    route.audited === undefined ? {} : isAudited,
  );
}

/** Combines several grants. */
export function grant(...grants: readonly Access[]): Access {
  const table = Object.fromEntries(
    keyFamilies
      .map((family) => [family, [...new Set(grants.flatMap((each) => each.table?.[family] ?? []))]] as const)
      .filter(([, actions]) => actions.length > 0),
  );
  return {
    table,
    transactions: grants.flatMap(({ transactions = [] }) => transactions),
    queues: [...new Set(grants.flatMap(({ queues = [] }) => queues))],
    sessionKey: [...new Set(grants.flatMap(({ sessionKey = [] }) => sessionKey))],
    ...(grants.some(({ agenda }) => agenda) ? { agenda: true } : {}),
    ...(grants.some(({ webhookKey }) => webhookKey) ? { webhookKey: true } : {}),
    ...(grants.some(({ callbackSecrets }) => callbackSecrets) ? { callbackSecrets: true } : {}),
    ...(grants.some(({ secondFactorKey }) => secondFactorKey) ? { secondFactorKey: true } : {}),
    ...(grants.some(({ carrier }) => carrier) ? { carrier: true } : {}),
    ...(grants.some(({ email }) => email) ? { email: true } : {}),
    ...(grants.some(({ commit }) => commit) ? { commit: true } : {}),
  };
}

/** Returns the families that allow an action, alone or in a transaction. */
export function familiesOf({ table = {}, transactions = [] }: Access, action: TableAction): KeyFamily[] {
  return familiesThat([table, ...transactions], (actions) => actions.includes(action));
}

/** Returns the families of all writes in the transactions with the action, including its own. */
export function familiesBeside({ transactions = [] }: Access, action: TableAction): KeyFamily[] {
  const withAction = transactions.filter((each) => familiesOf({ table: each }, action).length > 0);
  return familiesThat(withAction, (actions) => actions.length > 0);
}

function familiesThat(
  accesses: readonly TableAccess[],
  fit: (actions: readonly TableAction[]) => boolean,
): KeyFamily[] {
  return keyFamilies.filter((family) => accesses.some((each) => fit(each[family] ?? [])));
}
