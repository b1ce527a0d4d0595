import { Verification } from "../../shared/api/contract/verifications.ts";
import { dataOf, type ApiResponse, type Customer } from "./api.ts";

const to = "15005550007";

/** Returns a request that causes each error of verifications. @param credit gives the customer a balance */
export function verificationErrors(customer: () => Customer, credit: () => Promise<void>) {
  const verify = async (action = "", json: object = { to, senderId: "ACME" }): Promise<ApiResponse> =>
    customer().call(`/v1/verifications${action}`, { method: "POST", json });
  const start = async (): Promise<string> => {
    await credit();
    return dataOf(await verify(), Verification).id;
  };
  return {
    VERIFICATION_BLOCKED: async () => {
      const json = { brand: "ACME", countries: ["GB"], guard: "block" };
      await customer().call("/v1/verification-profiles/default", { method: "PUT", json });
      return verify();
    },
    VERIFICATION_NOT_PENDING: async () => verify("/check", { to, code: "123456" }),
    TOO_MANY_CHECKS: async () => {
      await start();
      for (let checks = 0; checks < 5; checks += 1) await verify("/check", { to, code: "wrong" });
      return verify("/check", { to, code: "wrong" });
    },
    TOO_MANY_SENDS: async () => verify(`/${await start()}/resend`, {}),
  };
}
