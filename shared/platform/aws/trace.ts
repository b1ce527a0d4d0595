/**
 * The trace that the present call belongs to. Lambda finds by it that a function calls itself, through a queue for
 * example, and ends the loop.
 */
export function currentTraceId(): string | undefined {
  if (!process.env["AWS_LAMBDA_FUNCTION_NAME"]) return undefined;
  const store: unknown = Object(Reflect.get(globalThis, "awslambda")).InvokeStore;
  return (
    (hasTraces(store) ? store.getXRayTraceId() : undefined) || process.env["_X_AMZN_TRACE_ID"] || undefined
  );
}

/** What Lambda's runtime keeps of each of the calls that it serves side by side. */
interface InvokeStore {
  getXRayTraceId(): string | undefined;
}

function hasTraces(store: unknown): store is InvokeStore {
  return typeof store === "object" && store !== null && "getXRayTraceId" in store;
}
