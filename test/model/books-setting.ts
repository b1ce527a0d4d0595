/** The customer of the model of the books, its prices and its contacts. */
export const organizationId = "org_01J00000000000000000000000";
export const priceMicros = 7_900;
export const keyBudgetMicros = 20_000;
export const firstDay = "2026-03-01";
export const contactCount = 5;
