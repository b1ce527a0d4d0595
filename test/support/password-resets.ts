import { expect } from "vitest";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { call, type ApiResponse, type Customer } from "./api.ts";
import { emailsTo, tokenIn, waitForSubject } from "./emails.ts";

export const newPassword = "staple battery horse";

/** The calls that reset a password on a gateway that a test file has for itself. */
export function passwordResetsOn(gateway: LocalGateway) {
  const { url: baseUrl } = gateway;

  const requestReset = async (email: string): Promise<ApiResponse> =>
    call("/v1/auth/password-reset/request", { json: { email }, baseUrl });

  const reset = async (token: string, fields: object = {}): Promise<ApiResponse> =>
    call("/v1/auth/password-reset", { json: { token, password: newPassword, ...fields }, baseUrl });

  /** Requests a link, and returns its token. */
  const resetTokenFor = async ({ email }: Customer): Promise<string> => {
    const subject = "Set a new password";
    const before = emailsTo(gateway, email).filter((each) => each.subject === subject).length;
    expect((await requestReset(email)).status).toBe(202);
    const received = await waitForSubject(gateway, email, subject, before + 1);
    expect(received.text).toContain(`${baseUrl}/account#reset=usr_`);
    return tokenIn(received);
  };

  return { requestReset, reset, resetTokenFor };
}

/** The actions in a customer's audit log, newest first. */
export async function actionsOf(customer: Customer, credential: string): Promise<string[]> {
  const answer = await customer.call("/v1/audit-log", { credential });
  return [...answer.text.matchAll(/"action":"([^"]+)"/g)].map(([, action = ""]) => action);
}
