/*
 * Stands in, in the bundles, for the layers that the SDK's commands name for the SDK's own client: see
 * `infra/bundled-packages.ts`. Nothing calls them. What a new version of the SDK names besides, esbuild misses here.
 */

function leftOut(): never {
  throw new Error("functions carry out commands with a client of their own");
}

export {
  leftOut as getEndpointPlugin,
  leftOut as getLongPollPlugin,
  leftOut as getReceiveMessagePlugin,
  leftOut as getSendMessageBatchPlugin,
  leftOut as getSendMessagePlugin,
  leftOut as setFeature,
};
