import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import type { Construct } from "constructs";

import type { Stage } from "../stages/stage.ts";

/** Adds a budget that warns `alarmEmails` when the month's costs of a stage, by its tag, approach its limit. */
export function addBudget(scope: Construct, { name, monthlyBudgetUsd, alarmEmails }: Stage): void {
  if (monthlyBudgetUsd === undefined) return;
  const warning = (
    notificationType: "ACTUAL" | "FORECASTED",
    threshold: number,
  ): CfnBudget.NotificationWithSubscribersProperty => ({
    notification: {
      notificationType,
      comparisonOperator: "GREATER_THAN",
      threshold,
      thresholdType: "PERCENTAGE",
    },
    subscribers: alarmEmails.map((address) => ({ subscriptionType: "EMAIL", address })),
  });
  new CfnBudget(scope, "Budget", {
    budget: {
      budgetType: "COST",
      timeUnit: "MONTHLY",
      budgetLimit: { amount: monthlyBudgetUsd, unit: "USD" },
      costFilters: { TagKeyValue: [`user:stage$${name}`] },
    },
    // Actual costs are known immediately, the forecast only after weeks of use.
    notificationsWithSubscribers: [warning("ACTUAL", 80), warning("FORECASTED", 100)],
  });
}
