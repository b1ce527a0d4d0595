import type { Operation } from "../shared/routes.ts";
import type { Route } from "../shared/routes/route.ts";
import {
  acceptsCallbacks,
  acceptsMessages,
  authenticates,
  callsProvider,
  changesOptOuts,
  changesWallet,
  checksCredentials,
  checksSender,
  endsKeys,
  endsUnproven,
  grant,
  isAudited,
  notifiesOfWallet,
  processesPayments,
  readsBilling,
  readsPrices,
  removesMembers,
  storesResponses,
  type Access,
} from "./grants.ts";

const addsContacts: Access = {
  GetItem: ["OPT_OUTS"],
  transactions: [{ PutItem: ["CONTACTS"], UpdateItem: ["OPT_OUTS", "ORG"] }],
};

/** The permissions of each operation's function, without those that follow from its route. */
const accessOfOperation: Readonly<Record<Operation, Access>> = {
  getHealth: { commit: true },
  register: {
    UpdateItem: ["LIMIT"],
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
    sessionKey: ["Sign"],
  },
  login: grant(isAudited, checksCredentials, {
    GetItem: ["USER", "EMAIL", "ORG"],
    PutItem: ["KNOWN_NETWORK"],
    UpdateItem: ["CREDENTIALS"],
    sessionKey: ["Sign"],
    secondFactorKey: true,
  }),
  reauthenticate: grant(checksCredentials, {
    UpdateItem: ["USER", "CREDENTIALS"],
    secondFactorKey: true,
  }),
  logout: { UpdateItem: ["USER"] },
  logoutEverywhere: { UpdateItem: ["USER"] },
  requestEmailVerification: {
    GetItem: ["USER", "EMAIL_SUPPRESSION"],
    UpdateItem: ["LIMIT"],
    queues: ["emails"],
  },
  verifyEmail: grant(endsUnproven, checksCredentials, {
    GetItem: ["EMAIL_TOKEN"],
    transactions: [
      { PutItem: ["AUDIT"], UpdateItem: ["USER", "ORG", "RIGHTS"], DeleteItem: ["EMAIL_TOKEN"] },
    ],
  }),
  acceptInvitation: {
    GetItem: ["RIGHTS", "EMAIL_TOKEN", "INVITATION", "ORG", "USER"],
    transactions: [
      {
        PutItem: ["EMAIL", "MEMBERS", "USER", "CREDENTIALS", "AUDIT", "DUE"],
        UpdateItem: ["ORG", "RIGHTS"],
        DeleteItem: ["EMAIL_TOKEN", "INVITATION", "MEMBERS"],
        ConditionCheckItem: ["MEMBERS", "USER"],
      },
    ],
    queues: ["emails"],
  },
  startTotp: grant(checksCredentials, {
    PutItem: ["CREDENTIALS", "SEALING_KEYS"],
    secondFactorKey: true,
  }),
  confirmTotp: grant(checksCredentials, {
    transactions: [{ PutItem: ["DUE"], UpdateItem: ["USER", "CREDENTIALS"] }],
    queues: ["emails"],
    secondFactorKey: true,
  }),
  deleteTotp: grant(checksCredentials, {
    GetItem: ["RIGHTS"],
    UpdateItem: ["CREDENTIALS"],
    transactions: [{ PutItem: ["DUE"], UpdateItem: ["USER"], DeleteItem: ["CREDENTIALS"] }],
    queues: ["emails"],
    secondFactorKey: true,
  }),
  requestPasswordReset: { UpdateItem: ["LIMIT"], queues: ["emails"] },
  resetPassword: grant(endsUnproven, {
    GetItem: ["EMAIL_TOKEN"],
    transactions: [
      {
        PutItem: ["CREDENTIALS", "AUDIT", "DUE"],
        UpdateItem: ["USER", "ORG", "RIGHTS"],
        DeleteItem: ["EMAIL_TOKEN", "CREDENTIALS"],
      },
    ],
    queues: ["emails"],
  }),
  changePassword: grant(checksCredentials, {
    GetItem: ["USER"],
    transactions: [{ PutItem: ["CREDENTIALS", "DUE"], UpdateItem: ["USER"] }],
    queues: ["emails"],
  }),
  getAccountPage: { brand: true },
  getMe: { GetItem: ["USER"] },
  listApiKeys: { Query: ["ORG", "KEY_USES"] },
  createApiKey: {
    GetItem: ["ORG", "RIGHTS"],
    transactions: [
      { PutItem: ["ORG", "KEY", "DUE"], UpdateItem: ["ORG"], ConditionCheckItem: ["USER", "MEMBERS"] },
    ],
    queues: ["emails"],
  },
  rotateApiKey: {
    GetItem: ["ORG", "RIGHTS"],
    transactions: [
      { PutItem: ["ORG", "KEY", "DUE"], UpdateItem: ["ORG", "KEY"], ConditionCheckItem: ["USER", "MEMBERS"] },
    ],
    queues: ["emails"],
  },
  disableApiKey: grant(endsKeys, { GetItem: ["KEY_USES"] }),
  deleteApiKey: {
    GetItem: ["ORG"],
    transactions: [{ UpdateItem: ["ORG"], DeleteItem: ["ORG", "KEY", "KEY_USES"] }],
  },
  revokeAllApiKeys: endsKeys,
  listMembers: { GetItem: ["USER", "INVITATION"], Query: ["MEMBERS"] },
  inviteMember: {
    GetItem: ["MEMBERS", "RIGHTS", "USER", "INVITATION"],
    Query: ["MEMBERS"],
    UpdateItem: ["LIMIT"],
    transactions: [{ PutItem: ["MEMBERS", "INVITATION", "DUE"], UpdateItem: ["ORG"] }],
    queues: ["emails"],
  },
  updateMember: grant(endsKeys, {
    GetItem: ["RIGHTS", "USER", "INVITATION"],
    transactions: [
      { PutItem: ["DUE"], UpdateItem: ["MEMBERS", "RIGHTS", "INVITATION"], ConditionCheckItem: ["USER"] },
    ],
    queues: ["emails"],
  }),
  deleteMember: removesMembers,
  sendSms: acceptsMessages,
  estimateSms: grant(readsPrices, { GetItem: ["WALLET"] }),
  listSms: { GetItem: ["WALLET"], Query: ["MESSAGES"] },
  getSms: { GetItem: ["MESSAGES"] },
  cancelSms: grant(changesWallet, {
    GetItem: ["MESSAGES"],
    UpdateItem: ["STATS"],
    transactions: [{ PutItem: ["LEDGER"], UpdateItem: ["WALLET", "MESSAGES"] }],
  }),
  listPrices: readsPrices,
  listCampaigns: { GetItem: ["ORG"], Query: ["CAMPAIGNS", "STATS"] },
  createCampaign: grant(checksSender, {
    GetItem: ["TEMPLATES"],
    transactions: [{ PutItem: ["CAMPAIGNS", "DUE"], UpdateItem: ["ORG", "IDEMPOTENCY"] }],
    queues: ["campaigns"],
  }),
  getCampaign: { GetItem: ["CAMPAIGNS", "STATS"] },
  launchCampaign: grant(checksSender, {
    GetItem: ["CAMPAIGNS", "STATS"],
    transactions: [{ PutItem: ["DUE"], UpdateItem: ["CAMPAIGNS"] }],
    queues: ["campaigns"],
  }),
  cancelCampaign: { GetItem: ["CAMPAIGNS", "STATS"], transactions: [{ UpdateItem: ["CAMPAIGNS"] }] },
  getDashboardStats: { GetItem: ["WALLET"], Query: ["STATS"] },
  getWallet: { GetItem: ["WALLET"] },
  updateWallet: { GetItem: ["WALLET"], UpdateItem: ["WALLET"] },
  listTransactions: { GetItem: ["LEDGER", "MESSAGES", "WALLET"], Query: ["LEDGER", "MESSAGES"] },
  getUsage: { GetItem: ["CAMPAIGNS", "WALLET"], Query: ["ORG", "STATS"] },
  topUpWallet: grant(changesWallet, {
    transactions: [{ PutItem: ["LEDGER"], UpdateItem: ["WALLET", "IDEMPOTENCY"] }],
  }),
  createPayment: grant(callsProvider, {
    GetItem: ["WALLET"],
    transactions: [{ PutItem: ["PAYMENTS"], UpdateItem: ["IDEMPOTENCY"] }],
    queues: ["payments"],
  }),
  listPayments: grant(readsBilling, { Query: ["PAYMENTS"] }),
  getPayment: processesPayments,
  listPaymentMethods: callsProvider,
  addPaymentMethod: callsProvider,
  deletePaymentMethod: callsProvider,
  receivePaymentEvent: { paymentProvider: true, queues: ["payments"] },
  getBilling: readsBilling,
  updateBilling: grant(readsBilling, { UpdateItem: ["BILLING"] }),
  getAutoRecharge: { GetItem: ["BILLING", "WALLET"] },
  updateAutoRecharge: grant(callsProvider, notifiesOfWallet, {
    GetItem: ["WALLET"],
    transactions: [{ UpdateItem: ["BILLING", "WALLET"] }],
  }),
  listInvoices: { Query: ["INVOICES"] },
  getInvoice: { GetItem: ["INVOICES"], documents: ["read"] },
  listWebhooks: { GetItem: ["INFLIGHT"], Query: ["ORG"] },
  createWebhook: {
    GetItem: ["WALLET"],
    PutItem: ["SEALING_KEYS"],
    transactions: [{ PutItem: ["ORG", "WEBHOOK_SECRETS"], UpdateItem: ["ORG"] }],
    webhookKey: true,
  },
  deleteWebhook: {
    GetItem: ["INFLIGHT", "ORG"],
    transactions: [{ UpdateItem: ["ORG"], DeleteItem: ["ORG", "WEBHOOK_SECRETS"] }],
  },
  getWebhook: { GetItem: ["INFLIGHT", "ORG"] },
  updateWebhook: { GetItem: ["ORG", "INFLIGHT"], UpdateItem: ["ORG", "INFLIGHT"] },
  rotateWebhookSecret: {
    GetItem: ["INFLIGHT", "ORG", "WEBHOOK_SECRETS"],
    PutItem: ["SEALING_KEYS"],
    UpdateItem: ["WEBHOOK_SECRETS"],
    webhookKey: true,
  },
  testWebhook: {
    GetItem: ["ORG", "DELIVERIES"],
    PutItem: ["DELIVERIES"],
    UpdateItem: ["LIMIT"],
    queues: ["webhookRetries"],
  },
  listWebhookDeliveries: { GetItem: ["ORG"], Query: ["DELIVERIES"] },
  retryWebhookDelivery: { GetItem: ["ORG"], UpdateItem: ["LIMIT", "DELIVERIES"], queues: ["webhookRetries"] },
  getKyc: { GetItem: ["KYC"] },
  submitKyc: {
    GetItem: ["KYC"],
    transactions: [{ PutItem: ["KYC", "REVIEWS"], DeleteItem: ["REVIEWS"] }],
  },
  listSenderIds: { GetItem: ["ORG"], Query: ["ORG"] },
  createSenderId: {
    GetItem: ["ORG"],
    transactions: [{ PutItem: ["ORG", "REVIEWS"], UpdateItem: ["ORG"] }],
  },
  setDefaultSenderId: { GetItem: ["ORG"], Query: ["ORG"], transactions: [{ UpdateItem: ["ORG"] }] },
  listContacts: { GetItem: ["ORG"], Query: ["CONTACTS"] },
  createContact: addsContacts,
  importContacts: addsContacts,
  getContact: { GetItem: ["CONTACTS"] },
  updateContact: {
    GetItem: ["CONTACTS", "OPT_OUTS"],
    transactions: [
      { PutItem: ["CONTACTS"], UpdateItem: ["CONTACTS", "OPT_OUTS"], DeleteItem: ["CONTACTS", "OPT_OUTS"] },
    ],
  },
  deleteContact: {
    GetItem: ["CONTACTS"],
    transactions: [{ UpdateItem: ["ORG"], DeleteItem: ["CONTACTS"] }],
  },
  listOptOuts: { Query: ["OPT_OUTS"] },
  createOptOut: changesOptOuts,
  getOptOut: { GetItem: ["OPT_OUTS"] },
  deleteOptOut: changesOptOuts,
  listInbound: { Query: ["INBOUND"] },
  listNumbers: { Query: ["NUMBERS"] },
  listTemplates: { GetItem: ["ORG"], Query: ["TEMPLATES"] },
  createTemplate: { transactions: [{ PutItem: ["TEMPLATES"], UpdateItem: ["ORG"] }] },
  getTemplate: { GetItem: ["TEMPLATES"] },
  updateTemplate: { GetItem: ["TEMPLATES"], UpdateItem: ["TEMPLATES"] },
  deleteTemplate: { transactions: [{ UpdateItem: ["ORG"], DeleteItem: ["TEMPLATES"] }] },
  sendTemplate: grant(acceptsMessages, { GetItem: ["TEMPLATES"] }),
  listAuditLog: { Query: ["AUDIT"] },
  getCarrierCallback: acceptsCallbacks,
  postCarrierCallback: acceptsCallbacks,
  getRoot: grant(readsPrices, { brand: true, links: true }),
  getBrandFile: { brand: true, brandImages: true },
  getConsole: { brand: true },
  getConsoleFile: {},
  getOpenApi: {},
  getOpenApiYaml: {},
  getLlms: { brand: true, links: true },
  getDocs: { brand: true, links: true },
  getDocsPage: { brand: true, links: true },
};

/** Returns the permissions of an operation's function: those of its row above and those of its route. */
export function accessOf(operation: Operation, route: Route): Access {
  return grant(
    accessOfOperation[operation],
    route.auth === "none" ? {} : authenticates,
    route.idempotent === true ? storesResponses : {},
    route.audited === undefined ? {} : isAudited,
  );
}
