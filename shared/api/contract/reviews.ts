import * as z from "zod/mini";

export const ReviewStatus = z.enum(["pending", "approved", "rejected"]).register(z.globalRegistry, {
  id: "ReviewStatus",
  description: "`pending` until the operator has decided.",
});
