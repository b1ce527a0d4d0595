import { ConfirmedTotp, StartedTotp } from "../../shared/api/contract/second-factor.ts";
import { totpCode, totpStepAt } from "../../shared/platform/auth/totp.ts";
import { dataOf, password, type Customer } from "./api.ts";

/** The secrets of a user with a second factor. */
export interface SecondFactor {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** Lets a customer need a second factor from now on. The code of this moment is used up by it. */
export async function enableSecondFactor(customer: Pick<Customer, "call">): Promise<SecondFactor> {
  const started = await customer.call("/v1/auth/totp", { json: { password } });
  const { secret } = dataOf(started, StartedTotp);
  const code = totpCode(secret, totpStepAt(new Date()));
  const confirmed = await customer.call("/v1/auth/totp/confirm", { json: { code } });
  return { secret, recoveryCodes: dataOf(confirmed, ConfirmedTotp).recoveryCodes };
}
