import { about, namedEnum } from "./about.ts";

export const ReviewStatus = about(
  namedEnum("ReviewStatus", ["pending", "approved", "rejected"]),
  "`pending` until the operator has decided.",
);
