import { expireAccounts } from "../../shared/accounts/erasure/expire.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";

export const handler = scheduled("accounts.expired", expireAccounts);
