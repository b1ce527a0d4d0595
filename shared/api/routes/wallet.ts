import {
  TopUpRequest,
  Transaction,
  TransactionsQuery,
  UpdateWalletRequest,
  Wallet,
} from "../contract/wallet.ts";
import type { Route } from "./route.ts";

export const getWallet = {
  method: "GET",
  path: "/v1/wallet",
  summary: "Get the balance and the spending limits",
  description: "It has the balance, the daily spend cap and the threshold of the low-balance notice.",
  scope: "read",
  data: Wallet,
  errors: ["WALLET_MISSING"],
} as const satisfies Route;

export const updateWallet = {
  method: "PATCH",
  path: "/v1/wallet",
  summary: "Lower the daily spend cap, set the threshold of the low-balance notice, or pause all sending",
  description: "Fields that are not in the body stay as they are, and `null` clears one.",
  scope: "billing",
  body: UpdateWalletRequest,
  data: Wallet,
  audited: ["dailySpendCap", "lowBalanceThreshold", "sendingPausedAt"],
  errors: ["WALLET_MISSING", "REAUTHENTICATION_REQUIRED"],
} as const satisfies Route;

export const listTransactions = {
  method: "GET",
  path: "/v1/wallet/transactions",
  summary: "List the wallet's ledger, newest first; filter by type or day",
  description: "Each movement of the balance is one entry. The entries add up to the balance.",
  scope: "read",
  query: TransactionsQuery,
  data: Transaction,
  paged: true,
  errors: ["WALLET_MISSING"],
} as const satisfies Route;

export const topUpWallet = {
  method: "POST",
  path: "/v1/wallet/top-up",
  summary: "Top up the wallet; for development, disabled in production",
  description: "It adds money that no one has paid. Without a body it adds 10.",
  scope: "billing",
  body: TopUpRequest,
  data: Wallet,
  idempotent: true,
  audited: ["balance", "currency"],
  errors: ["WALLET_MISSING", "TOP_UP_DISABLED", "CONFLICT"],
} as const satisfies Route;

export const routes = { getWallet, updateWallet, listTransactions, topUpWallet };
