import type { Viewer } from "../../shared/platform/auth/actor.ts";

/** Returns the viewer that sees all data of an organization. */
export function ownerOf(organizationId: string): Viewer {
  return { organizationId, isTest: false, hidesCodes: false };
}
