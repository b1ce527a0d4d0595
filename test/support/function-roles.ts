import type { Template } from "aws-cdk-lib/assertions";
import * as z from "zod/mini";

import { roleWith } from "./roles.ts";

const LeadingKeys = z.pipe(
  z.strictObject({ "dynamodb:LeadingKeys": z.union([z.string(), z.array(z.string())]) }),
  z.transform((keys) => [keys["dynamodb:LeadingKeys"]].flat()),
);

/** The condition of each statement on the table, and that of the worker of emails. */
const Condition = z.union([
  z.strictObject({
    "ForAllValues:StringLike": LeadingKeys,
    "ForAnyValue:StringLike": z.optional(LeadingKeys),
    Null: z.strictObject({ "dynamodb:LeadingKeys": z.literal("false") }),
  }),
  z.strictObject({ StringEquals: z.strictObject({ "ses:FromAddress": z.string() }) }),
]);

interface RoleStatement {
  /** The name of its function, in Pascal case. */
  readonly name: string;
  readonly actions: readonly string[];
  readonly resource: unknown;
  readonly condition: z.infer<typeof Condition> | undefined;
  /** The families of items that it is for. */
  readonly families: readonly string[];
  /** The families of the other writes of its transactions. */
  readonly besides: readonly string[];
}

/**
 * Returns the statements of all roles of a stack.
 * @throws Error for a condition of a form that no test knows
 */
export function roleStatements(template: Template): RoleStatement[] {
  return Object.entries(template.findResources("AWS::IAM::Role")).flatMap(([id, role]) =>
    roleWith(Condition)
      .parse(role)
      .Properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .map(({ Action, Resource, Condition: condition }) => {
        const isOnItems = condition !== undefined && "ForAllValues:StringLike" in condition;
        const all = isOnItems ? condition["ForAllValues:StringLike"] : [];
        const families = (isOnItems ? condition["ForAnyValue:StringLike"] : undefined) ?? all;
        return {
          name: id.replace(/^Api/, "").replace(/Role[0-9A-F]{8}$/, ""),
          actions: Action,
          resource: Resource,
          condition,
          families,
          besides: all.filter((family) => !families.includes(family)),
        };
      }),
  );
}

/** Returns the functions with such a statement, sorted. */
export function functionsWith(
  statements: readonly RoleStatement[],
  allows: (statement: RoleStatement) => boolean,
): string[] {
  return [...new Set(statements.filter(allows).map(({ name }) => name))].toSorted();
}

/**
 * Returns a function's access to the table as `action family`. `action beside family` is for the other families of its
 * transactions.
 * @throws Error for a function without a role
 */
export function tableAccess(statements: readonly RoleStatement[], functionName: string): string[] {
  const ofFunction = statements.filter(({ name }) => name === functionName);
  if (ofFunction.length === 0) throw new Error(`${functionName} has no role`);
  return ofFunction
    .flatMap(({ actions, condition, families, besides }) =>
      actions
        .filter((action) => action.startsWith("dynamodb:"))
        .map((action) => action.replace("dynamodb:", ""))
        .flatMap((action) => [
          ...(condition === undefined ? ["everything"] : families).map((family) => `${action} ${family}`),
          ...besides.map((family) => `${action} beside ${family}`),
        ]),
    )
    .toSorted();
}
