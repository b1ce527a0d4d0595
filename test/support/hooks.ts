import { createHmac } from "node:crypto";

import { SignJWT } from "jose";
import { Webhook } from "standardwebhooks";

import type { HookKind } from "../../shared/api/contract/hook-kinds.ts";

/** A body of each login system, as its documentation has it, with fields that the gateway does not read. */
export const hookBodies = {
  supabase: {
    metadata: { uuid: "5fd7e5cb-7a4b-4c4f-9a53-7a55a3b1c0de", name: "send-sms", ip_address: "203.0.113.7" },
    user: {
      id: "6481a5c1-3d37-4a56-9f6a-bee08c554965",
      aud: "authenticated",
      role: "authenticated",
      email: "",
      phone: "15005550000",
      app_metadata: { provider: "phone", providers: ["phone"] },
      user_metadata: {},
      is_anonymous: false,
    },
    sms: { otp: "123456" },
  },
  logto: { to: "+15005550000", type: "SignIn", payload: { code: "123456" }, ip: "192.168.1.1" },
  authentik: { From: "ACME", To: "+15005550000", Body: "123456" },
  auth0: {
    recipient: "+1 500 555 0000",
    body: "Your verification code is: 123456",
    sender: "+1 234 567",
    req: { ip: "203.0.113.7", "user-agent": "Mozilla/5.0" },
  },
  zitadel: {
    contextInfo: {
      eventType: "user.human.phone.code.added",
      provider: { id: "285181292935381355", description: "test" },
      recipientPhoneNumber: "+15005550000",
    },
    templateData: { title: "Zitadel - Verify phone", text: "The phone number has been added (Code 123456)." },
    args: { changeDate: "2024-09-16T10:58:50.73237+02:00", code: "123456", lastPhone: "+15005550000" },
  },
} as const satisfies Record<HookKind, object>;

/** The secrets of the systems that sign. Zitadel makes its own, Supabase too, and one chooses Auth0's. */
export const hookSecrets: { readonly [Kind in HookKind]?: string } = {
  supabase: "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  auth0: "a secret that signs the tokens of Auth0",
  zitadel: "KHtT5rOEBq8j0Ldv2F4nS7mXcYaWpZ1u",
};

/** The headers with which a login system proves a call, by its own library where it has one. */
export async function hookHeaders(
  kind: HookKind,
  proof: string,
  { body, at = new Date(), id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W" }: { body: string; at?: Date; id?: string },
): Promise<Record<string, string>> {
  const seconds = String(Math.floor(at.getTime() / 1_000));
  switch (kind) {
    case "supabase": {
      const signature = new Webhook(proof.replace("v1,", "")).sign(id, at, body);
      return { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": `v1,AAAA, ${signature}` };
    }
    case "zitadel": {
      const signature = createHmac("sha256", proof).update(`${seconds}.${body}`).digest("hex");
      return { "ZITADEL-Signature": `t=${seconds},v1=00,v1=${signature}` };
    }
    case "auth0": {
      const token = new SignJWT().setProtectedHeader({ alg: "HS256", typ: "JWT" }).setSubject("urn:Auth0");
      const expiring = token
        .setAudience("urn:sms-gateway")
        .setIssuedAt(at)
        .setExpirationTime(Number(seconds) + 300);
      return { Authorization: `Bearer ${await expiring.sign(new TextEncoder().encode(proof))}` };
    }
    case "logto":
      return { Authorization: proof };
    case "authentik":
      return { Authorization: `Bearer ${proof}` };
  }
}
