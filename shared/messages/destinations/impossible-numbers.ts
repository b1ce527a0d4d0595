import { invalidField } from "../../api/contract/errors.ts";
import { problemOfLength } from "../../api/contract/phone-numbers.ts";
import { config } from "../../platform/config.ts";

/**
 * Returns why no phone can have a number. Only stages with a policy for countries or types of numbers check it. The others
 * accept any 7 to 15 digits, as the contract does.
 */
export function impossibility(number: string): string | undefined {
  const hasPolicy = config.allowedCountries() !== undefined || config.allowedNumberTypes() !== undefined;
  return hasPolicy ? problemOfLength(number) : undefined;
}

/** @throws ApiError VALIDATION_ERROR for the `phoneNumber` of a request that no phone can have */
export function checkPhoneNumber(phoneNumber: string): void {
  const problem = impossibility(phoneNumber);
  if (problem !== undefined) throw invalidField("phoneNumber", problem);
}
