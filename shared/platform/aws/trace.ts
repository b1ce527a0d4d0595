/**
 * Returns the trace of the current call. With it Lambda detects a function that calls itself, through a queue for example, and
 * stops the loop.
 */
export function currentTraceId(): string | undefined {
  if (!process.env["AWS_LAMBDA_FUNCTION_NAME"]) return undefined;
  const store: unknown = Object(Reflect.get(globalThis, "awslambda")).InvokeStore;
  return (
    (hasTraces(store) ? store.getXRayTraceId() : undefined) || process.env["_X_AMZN_TRACE_ID"] || undefined
  );
}

/** The store of Lambda's runtime for each of the concurrent calls. */
interface InvokeStore {
  getXRayTraceId(): string | undefined;
}

function hasTraces(store: unknown): store is InvokeStore {
  return typeof store === "object" && store !== null && "getXRayTraceId" in store;
}
