import { checkOutLastRelease } from "./last-release.ts";

/** Checks out the last release before the tests, which run at the same time. */
export async function setup(): Promise<void> {
  await checkOutLastRelease();
}
