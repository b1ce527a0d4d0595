import type { FunctionHost } from "../../infra/local/function-host.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";

/** A gateway's function, by a part of its name that no other has. */
export function functionNamed(gateway: LocalGateway, part: string): FunctionHost {
  const found = [...gateway.functions].find(([name]) => name.includes(part))?.[1];
  if (found === undefined) throw new Error(`there is no function ${part}`);
  return found;
}
