/** The parts that a test removes, to see that the model notices. */
export type VerificationMutation = "count of checks" | "pending condition" | "pointer" | "refund condition";

interface Write {
  ConditionExpression?: string | undefined;
  readonly Item?: { readonly entity?: unknown };
}

/** Removes a condition from the writes of a request. */
export function mutate(
  mutation: VerificationMutation | undefined,
  { input }: { readonly input?: object },
): void {
  const items: Readonly<Record<string, Write>>[] = Object(input).TransactItems ?? [];
  const writes = [Object(input), ...items.flatMap((item) => Object.values(item))] satisfies Write[];
  if (mutation === undefined) return;
  for (const write of writes) {
    const condition = write.ConditionExpression;
    if (mutation === "pointer" && write.Item?.entity === "verifying") write.ConditionExpression = undefined;
    else if (mutation !== "pointer" && condition !== undefined)
      write.ConditionExpression = condition.replace(...conditions[mutation]);
  }
}

const conditions = {
  "count of checks": ["#checks < :checks_", "attribute_exists(#checks)"],
  "pending condition": ["#status = :status_", "attribute_exists(#status)"],
  "refund condition": ["#refund = :refund_", "attribute_exists(#refund)"],
} as const;
