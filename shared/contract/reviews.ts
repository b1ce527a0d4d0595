import * as z from "zod";

/** How far something has come that an operator decides on. */
export const ReviewStatus = z.enum(["pending", "approved", "rejected"]);
