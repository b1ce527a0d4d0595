/*
 * Replaces, in the bundles, the middleware that the SDK's commands import for the SDK's own client, and the validator of the
 * MCP server: see `infra/bundled-packages.ts`. No code calls it. If a new version imports more, esbuild reports it.
 */

function leftOut(): never {
  throw new Error("bundles do not contain this code, because no function needs it");
}

export {
  leftOut as AjvJsonSchemaValidator,
  leftOut as getCheckContentLengthHeaderPlugin,
  leftOut as getEndpointPlugin,
  leftOut as getFlexibleChecksumsPlugin,
  leftOut as getLocationConstraintPlugin,
  leftOut as getLongPollPlugin,
  leftOut as getReceiveMessagePlugin,
  leftOut as getS3ExpiresMiddlewarePlugin,
  leftOut as getSendMessageBatchPlugin,
  leftOut as getSendMessagePlugin,
  leftOut as getSsecPlugin,
  leftOut as getThrow200ExceptionsPlugin,
  leftOut as setFeature,
};
