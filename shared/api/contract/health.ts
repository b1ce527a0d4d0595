import * as z from "zod/mini";

export const Health = z
  .object({ status: z.literal("ok"), version: z.string(), commit: z.optional(z.string()) })
  .register(z.globalRegistry, { id: "Health" });
