import { idSchema } from "../../api/contract/primitives.ts";

/**
 * Returns the message of a reference, `<organization>.<message>`, as carriers receive it.
 * @returns undefined if the reference is not valid
 */
export function messageOf(
  reference: string | undefined,
): { readonly organizationId: string; readonly messageId: string } | undefined {
  const [organizationId, messageId, ...rest] = (reference ?? "").split(".");
  const isOne =
    rest.length === 0 &&
    idSchema("org").safeParse(organizationId).success &&
    idSchema("msg").safeParse(messageId).success;
  return isOne && organizationId !== undefined && messageId !== undefined
    ? { organizationId, messageId }
    : undefined;
}
