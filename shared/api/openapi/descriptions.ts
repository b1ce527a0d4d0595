import type { Operation, routes } from "../routes.ts";

type PublicOperation = {
  [Name in Operation]: (typeof routes)[Name] extends { readonly internal: true } ? never : Name;
}[Operation];

/** Returns what an operation does beyond its summary: its effect, its limits, or what to call next. */
export function descriptionOf(operation: Operation): string {
  const texts: Readonly<Partial<Record<Operation, string>>> = descriptions;
  return texts[operation] ?? "";
}

const descriptions: Readonly<Record<PublicOperation, string>> = {
  getHealth: "Responds without a credential. Use it for uptime checks.",
  register:
    "The response has a session token, which is valid for an hour. If the gateway sends emails, the user gets a link that " +
    "verifies the email.",
  login:
    "The response has a session token, which is valid for an hour. Too many wrong passwords block the login for a time.",
  reauthenticate:
    "Some changes need a session that entered its password recently. Call this, then repeat the request that was rejected.",
  logout: "The token is rejected from then on. API keys keep working.",
  logoutEverywhere: "Use it when a device is lost or a token has leaked.",
  listSessions:
    "The list has the sessions of the console, and those of tokens that a login or registration returned. The newest is first.",
  deleteSession:
    "The session is rejected from its next request on. Other sessions and API keys keep working.",
  requestEmailVerification: "Earlier links stop working. The link is valid for one day.",
  verifyEmail: "The token is from the link in the email, and the password shows that the account is yours.",
  acceptInvitation: "It creates the user's account with its password. Log in afterwards.",
  startTotp: "Show the URI to an authenticator app as a QR code, then confirm it with a code of the app.",
  confirmTotp: "From then on each login needs a code. Keep the recovery codes in a safe place.",
  deleteTotp: "It needs the password and a code. While the organization requires a second factor, it stays.",
  requestPasswordReset: "The link is valid for 30 minutes.",
  resetPassword: "It ends all sessions of the user.",
  changePassword:
    "With a second factor, it needs a `code` too. Other sessions have to log in again with the new password. API keys keep working.",
  getMe: "Use it to check a credential, and to find its owner.",
  listApiKeys:
    "Each key has its scopes, its limits and the time of its last use. Disabled keys stay in the list.",
  createApiKey:
    "Give a key only the scopes that its program needs. Unknown fields are rejected, because a limit with a wrong name " +
    "would limit nothing.",
  updateApiKey:
    "The new limits replace the earlier ones. Keys that share its budget get them too. A key without limits cannot get any.",
  rotateApiKey: "Deploy the new secret before the overlap ends.",
  disableApiKey: "Requests with the key are rejected from then on. A disabled key cannot be enabled again.",
  deleteApiKey:
    "The keys that were made with an active key are revoked too. If the key had ended before, they stay: disable it once more " +
    "first. The audit log keeps what the key has changed.",
  revokeAllApiKeys: "Use it when a key has leaked and you do not know which one.",
  listMembers: "An invitation is a member without a user, until the person accepts it.",
  inviteMember:
    "The person gets an email with a link that is valid for one week. No one can grant more rights than their own.",
  updateMember: "An organization always has an owner.",
  deleteMember: "The person's access ends immediately.",
  updateOrganization: "You need a second factor yourself. API keys keep working without one.",
  startVerification:
    "The number gets a code, which is in no response. While a verification of the number is pending, the call returns the same " +
    "one. It sends the same code again once `nextSendAt` has passed, at most five times in all.",
  checkVerification:
    "A wrong code is no error: `valid` is `false`. A verification can be checked five times, and approved once. The sixth check " +
    "fails it. A verification that is not pending, or does not exist, gets `VERIFICATION_NOT_PENDING`.",
  listVerifications: "Verifications are kept for 30 days.",
  getVerificationConversion: "The guard compares each country with what is usual there.",
  getVerification: "The code is in no response.",
  resendVerification: "It sends the same code, and does not extend its validity.",
  reportVerification:
    "Use it if you check the code yourself. Only an approved verification keeps its fee, and the guard learns from both outcomes.",
  cancelVerification:
    "Its code is no longer accepted, and its fee is returned. Messages that were sent stay paid.",
  sendSms:
    "The response means that the message was accepted and charged, not that it was delivered. Follow it with webhooks or by " +
    "its id. A failed message is refunded.",
  estimateSms:
    "It accepts the body of a send, and returns the number of segments, the price, and whether the balance covers it.",
  sendBatch:
    "A message that is rejected has the code that a single send would get, and the others are accepted. Send an " +
    "Idempotency-Key: if a request has no response, its repeat continues the batch and sends nothing twice.",
  estimateBatch:
    "It accepts the body of a batch, and returns the sum of its messages, and those without a price.",
  listSms: "Use webhooks instead of polling this list for new results.",
  getSms: "It has the attempts to submit the message, and its delivery once a receipt has arrived.",
  cancelSms: "A message that is already at a carrier cannot be cancelled.",
  listPrices: "With `prefix`, the list has the price that applies to a number.",
  listCampaigns: "Each campaign has counts of the messages that it accepted, sent and skipped.",
  createCampaign:
    "A draft sends nothing until you launch it. Messages are charged one by one when they are accepted.",
  getCampaign: "The counts change while the campaign runs.",
  listCampaignRecipients:
    "Campaigns that ran before this list existed have no skipped contacts in it, only their counts.",
  updateCampaign: "Once a campaign is launched or scheduled, it cannot be changed.",
  launchCampaign: "Sending starts immediately. Contacts that have opted out are left out.",
  deleteCampaign:
    "Its id is not found from then on. A campaign that was launched or scheduled is cancelled instead.",
  pauseCampaign:
    "It accepts no more messages until it is resumed. Messages that were accepted already are still sent.",
  resumeCampaign: "It continues after the last contact that it reached.",
  cancelCampaign: "Messages that were accepted already are still sent.",
  getDashboardStats: "Use the usage of a month for bills, and this for an overview.",
  getWallet: "It has the balance, the daily spend cap and the threshold of the low-balance notice.",
  updateWallet: "Fields that are not in the body stay as they are, and `null` clears one.",
  listTransactions: "Each movement of the balance is one entry. The entries add up to the balance.",
  topUpWallet: "It adds money that no one has paid. Without a body it adds 10.",
  createPayment: "The wallet is credited when the payment provider confirms the payment.",
  listPayments: "Each payment has its amount, its tax and its state.",
  getPayment: "Call it when a person returns from the checkout.",
  cancelPayment:
    "It closes the checkout, or ends an open bank transfer. A payment that was made meanwhile stays `succeeded`.",
  listPaymentMethods: "Saved cards can pay without a checkout, and are needed for auto-recharge.",
  addPaymentMethod: "Send a person to the URL in the response.",
  deletePaymentMethod: "Auto-recharge fails without a saved card.",
  getBilling: "It has the details for invoices, and how this gateway accepts payments.",
  updateBilling: "The next invoice has the new details. The country and the VAT number decide the tax.",
  getAutoRecharge: "It has the last recharge and the reason if recharges have stopped.",
  updateAutoRecharge: "A recharge happens when the balance falls below the threshold.",
  listInvoices: "Each paid payment has an invoice, and each refund of one a credit note.",
  getInvoice: "Request the PDF with `Accept: application/pdf`.",
  getUsage:
    "A day is counted about an hour after it ends. `missingDays` lists those that are not counted yet.",
  listWebhooks: "Each endpoint has its events, its status and its last failure.",
  createWebhook: "Verify each call with the secret in the response. Unknown fields are rejected.",
  getWebhook: "It has the reason if the gateway has disabled the endpoint.",
  updateWebhook: "Fields that are not in the body stay as they are. Unknown fields are rejected.",
  deleteWebhook: "Calls that wait for another attempt are not made.",
  rotateWebhookSecret: "For a day, calls have the signatures of both secrets in `webhook-signature`.",
  rotateCallbackSecret:
    "Call it once before you check the signatures of callbacks. Called again, it rotates the secret like that of a webhook.",
  testWebhook: "The response has the status of your endpoint, or why the gateway could not reach it.",
  listWebhookDeliveries: "Each delivery has its payload and the result of its last attempt.",
  retryWebhookDelivery: "The call has the same `webhook-id` as the first one.",
  listHooks:
    "Each hook has the time of its last call. Hooks are API keys too, so the list of keys has them as well.",
  createHook:
    "The login system makes the code and checks it; the gateway sends it with the text of a verification profile. The guide to " +
    "login systems has a section for each of them.",
  deleteHook:
    "Messages that it has sent stay. To replace its token or secret, create another hook and delete this one.",
  getKyc: "The submission has its state, and the reason if the operator has rejected it.",
  submitKyc: "Some gateways let an organization send only after the operator has approved its details.",
  listSenderIds: "Each request has its state, and the reason if the operator has rejected it.",
  createSenderId: "Some gateways send only with sender IDs that the operator has approved.",
  setDefaultSenderId: "Messages may still name another sender ID.",
  listContacts: "Contacts have a number, a name, tags and attributes that texts can use.",
  createExport:
    "It runs in the background, at most 50 times in a day. The person who began it gets an email when it is ready.",
  getExport:
    "Poll it until its `status` is not `running`, then read its parts from 1 to `parts`. It is deleted a day after it began.",
  getExportPart:
    "It is not found until the export is ready. Append the parts in their order to one file. `Accept: text/csv` returns the text alone.",
  createContact: "A number that has opted out before stays opted out.",
  importContacts:
    "Repeat the same request after a failure: rows that were imported are reported as duplicates, or updated again.",
  getContact: "It has the tags and attributes, and whether the number has opted out.",
  updateContact: "Tags and attributes are replaced as a whole. Unknown fields are rejected.",
  deleteContact: "The opt-out of the number stays.",
  listOptOuts: "These numbers get no marketing. People who replied STOP get only one-time codes.",
  createOptOut: "Use it when a person asks you by phone or email to stop.",
  getOptOut: "It has the source of the opt-out. Without an opt-out the response is a 404.",
  deleteOptOut: "Campaigns reach the number again.",
  listHeldMessages: "They are not charged yet. Each expires after a week without a decision.",
  getHeldMessage: "It has the text, the price and the key that sent it.",
  decideHeldMessage: "Only the first decision counts.",
  listInbound: "Subscribe to the event `message.received` to get them immediately.",
  listNumbers: "People can write to these numbers. The operator assigns them.",
  listConversations:
    "A conversation begins with the first inbound message to one of your numbers. Use `unread` to find those that wait for a " +
    "reply.",
  getConversation: "The field `canReply` shows whether you can send from its number.",
  listConversationMessages: "It has both directions. A message of a campaign follows once it is sent.",
  replyToConversation:
    "The message comes from the number that the person wrote to. If the person replied STOP, it is rejected.",
  updateConversation: "A later inbound message makes it unread again.",
  testInbound: "Use it to test your handling of replies without a phone. Keywords have no effect.",
  listTemplates: "Each template has the names of its placeholders.",
  createTemplate: "Write `{{firstName}}` where a value belongs, and pass the values when you send it.",
  getTemplate: "It has the text and the names of its placeholders.",
  updateTemplate:
    "Campaigns that exist keep the text that they were created with. Unknown fields are rejected.",
  deleteTemplate: "Messages and campaigns that were created from it stay as they are.",
  sendTemplate: "Each placeholder needs a value. The rest is as in a send.",
  listVerificationProfiles: "The profile `default` is in the list even before you save it.",
  getVerificationProfile:
    "Before you save it, `default` has the name of the organization and the usual limits.",
  saveVerificationProfile:
    "It applies to verifications that start from then on. Fields that are not there have their defaults. Unknown fields are rejected.",
  deleteVerificationProfile: "Pending verifications keep their text. New ones can no longer name it.",
  listAuditLog: "Each entry has the caller, the change and the time. Nothing deletes entries.",
};
