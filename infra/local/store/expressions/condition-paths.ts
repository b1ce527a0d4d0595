import type { Condition, Operand } from "./conditions.ts";
import type { Path } from "./token-reader.ts";

/** Returns the paths that a condition reads. */
export function pathsOf(condition: Condition): Path[] {
  const ofOperands = (...operands: readonly Operand[]): Path[] =>
    operands.flatMap((operand) => {
      const read = operand.type === "size" ? operand.of : operand;
      return read.type === "path" ? [read.path] : [];
    });
  switch (condition.type) {
    case "and":
    case "or":
      return [...pathsOf(condition.left), ...pathsOf(condition.right)];
    case "not":
      return pathsOf(condition.condition);
    case "exists":
    case "hasType":
      return [condition.path];
    case "compare":
      return ofOperands(condition.left, condition.right);
    case "between":
      return ofOperands(condition.operand, condition.from, condition.to);
    case "in":
      return ofOperands(condition.operand, ...condition.list);
    case "begins_with":
    case "contains":
      return ofOperands(condition.operand, condition.part);
  }
}
