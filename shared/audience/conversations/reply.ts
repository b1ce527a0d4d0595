import type { ReplyRequest } from "../../api/contract/conversations.ts";
import { ApiError } from "../../api/contract/errors.ts";
import type { AcceptedMessage } from "../../api/contract/sms.ts";
import { acceptMessage, type AcceptOptions } from "../../messages/accept/accept-one.ts";
import { viewerOf, type Actor } from "../../platform/auth/actor.ts";
import { isTestId } from "../../platform/ids.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { isPhone, readConversation } from "./conversations.ts";

/**
 * Sends a message from the number of a conversation to its phone: in a test conversation, a test message.
 * @throws ApiError NOT_FOUND; CONFLICT if the other side is no phone; the errors of `acceptMessage`
 */
export async function replyToConversation(
  organization: OrganizationRecord,
  id: string,
  request: ReplyRequest,
  { actor, ...options }: AcceptOptions & { readonly actor: Actor },
): Promise<AcceptedMessage> {
  const conversation = await readConversation(viewerOf(actor), id);
  if (!isPhone(conversation)) {
    throw new ApiError("CONFLICT", { message: "A name or a short code cannot receive messages." });
  }
  const { phoneNumber: to, number: from } = conversation;
  const test = isTestId(id) ? { test: true } : {};
  return acceptMessage(organization, { ...request, to, from, ...test }, { actor, ...options });
}
