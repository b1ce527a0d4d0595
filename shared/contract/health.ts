import * as z from "zod";

/** The version of this interface, as the health check and the OpenAPI document give it. */
export const apiVersion = "0.2.0";

export const Health = z.object({ status: z.literal("ok"), version: z.string() }).meta({ id: "Health" });
