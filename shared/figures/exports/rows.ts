import type { CampaignRecipient } from "../../api/contract/campaigns.ts";
import type { Contact } from "../../api/contract/contacts.ts";
import type { CreateExportRequest } from "../../api/contract/exports.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import type { Message } from "../../api/contract/sms.ts";
import type { Transaction } from "../../api/contract/wallet.ts";
import { listRecipients } from "../../audience/campaigns/results.ts";
import { listContacts } from "../../audience/contacts/contacts.ts";
import { listMessages } from "../../messages/search/list.ts";
import { listTransactions } from "../statements/transactions.ts";

const messageFields = [
  "id",
  "to",
  "senderId",
  "status",
  "errorCode",
  "message",
  "messageType",
  "campaignId",
  "queuedAt",
  "scheduledAt",
  "sentAt",
  "failedAt",
] as const satisfies readonly (keyof Message)[];

/** An import accepts all of them, and the attributes, which follow. */
const contactFields = [
  "phoneNumber",
  "firstName",
  "lastName",
  "tags",
  "optedOut",
  "createdAt",
] as const satisfies readonly (keyof Contact)[];

const transactionFields = [
  "createdAt",
  "id",
  "type",
  "amount",
  "balanceAfter",
  "currency",
  "messageId",
  "to",
  "country",
  "segments",
  "campaignId",
  "paymentId",
  "reason",
  "reference",
  "verificationId",
] as const satisfies readonly (keyof Transaction)[];

const recipientFields = [
  "number",
  "name",
  "status",
  "reason",
  "messageId",
  "reply",
] as const satisfies readonly (keyof CampaignRecipient)[];

/** The columns after the fields of a message. A program may count columns, so the later ones stay last. */
const deliveryColumns = ["delivery", "deliveryAt", "deliveryErrorCode", "segments", "price", "currency"];
const detailFields = ["reference", "metadata"] as const satisfies readonly (keyof Message)[];

/** Returns the names of the columns that each export of a list has. */
export function columnsOf({ messages, contacts, campaignRecipients }: CreateExportRequest): string[] {
  if (messages !== undefined) return [...messageFields, ...deliveryColumns, ...detailFields];
  if (contacts !== undefined) return [...contactFields];
  return campaignRecipients === undefined ? [...transactionFields] : [...recipientFields];
}

/** The values of a row by the names of their columns. */
type Cells = Readonly<Record<string, string>>;

/** Reads a page of a list by the function of its own operation, so that filters and results are the same. */
export async function readRows(
  organizationId: string,
  { messages, contacts, campaignRecipients, transactions }: CreateExportRequest,
  position: PageQuery,
): Promise<Page<Cells>> {
  if (messages !== undefined) {
    // An export needs the scope that shows codes.
    const viewer = { organizationId, isTest: false, hidesCodes: false };
    const page = await listMessages(viewer, { ...messages, ...position });
    const fields = [...messageFields, ...detailFields];
    return inCells(page, fields, ({ delivery, pricing: { segments, total, currency } }) => ({
      delivery: delivery?.status,
      deliveryAt: delivery?.at,
      deliveryErrorCode: delivery?.errorCode,
      segments,
      price: total,
      currency,
    }));
  }
  if (contacts !== undefined) {
    const page = await listContacts(organizationId, { ...contacts, ...position });
    return inCells(page, contactFields, ({ attributes }) => attributes);
  }
  if (campaignRecipients !== undefined) {
    const { campaignId, ...filter } = campaignRecipients;
    const page = await listRecipients(organizationId, campaignId, { ...filter, ...position });
    return inCells(page, recipientFields);
  }
  return inCells(await listTransactions(organizationId, { ...transactions, ...position }), transactionFields);
}

/** @param more returns values of further columns, which do not replace the fields */
function inCells<Row extends object>(
  { rows, meta }: Page<Row>,
  fields: readonly (keyof Row & string)[],
  more: (row: Row) => Readonly<Record<string, unknown>> = () => ({}),
): Page<Cells> {
  const cellsOf = (row: Row): Cells => {
    const values = { ...more(row), ...Object.fromEntries(fields.map((field) => [field, row[field]])) };
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value)]));
  };
  return { rows: rows.map(cellsOf), meta };
}

function textOf(value: unknown): string {
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return value === true ? "yes" : "";
}
