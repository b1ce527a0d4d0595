import { idSchema } from "../contract/primitives.ts";

/** The message that a reference of ours names, as carriers are given it: `<organisation>.<message>`. */
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
