import * as z from "zod/mini";

import { namedObject } from "./about.ts";

export const Health = namedObject("Health", {
  status: z.literal("ok"),
  version: z.string(),
  commit: z.optional(z.string()),
});
