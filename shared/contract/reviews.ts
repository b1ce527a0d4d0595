import * as z from "zod";

export const ReviewStatus = z
  .enum(["pending", "approved", "rejected"])
  .meta({ id: "ReviewStatus", description: "`pending` until the operator has decided." });
