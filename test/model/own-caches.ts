import { TtlCache } from "../../shared/platform/ttl-cache.ts";
import { replace } from "./replace.ts";

type Read = TtlCache<unknown>["read"];

/**
 * Separates the caches of a module by the instances of functions, which share no memory. Otherwise all instances, and the
 * callers outside of them, would wait forever for a load of an instance that died.
 * @param instanceName names the instance that runs the current code
 * @returns what restores the shared caches
 */
export function separateCaches(instanceName: () => string): () => void {
  const sharedRead: Read = Reflect.get(TtlCache.prototype, "read");
  const read = async function (this: TtlCache<unknown>, ...[load, key = ""]: Parameters<Read>) {
    return sharedRead.call(this, load, `${instanceName()} ${key}`);
  };
  return replace(TtlCache.prototype, "read", read);
}
