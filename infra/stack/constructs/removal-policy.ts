import { RemovalPolicy } from "aws-cdk-lib";

/**
 * Keeps a resource with data when the stack changes or is deleted. Where the creation of the stack fails, it is
 * deleted: it has no data yet, and would be in the way of the next attempt.
 */
export const kept = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

/** Returns the policy of a resource whose data a stage keeps or not. */
export function removalPolicyOf({ keepData }: { readonly keepData: boolean }): RemovalPolicy {
  return keepData ? kept : RemovalPolicy.DESTROY;
}
