import { config } from "../../platform/config.ts";

/** Returns the address of the console's page with the payments. */
export function consoleUrl(): string {
  return `${config.apiUrl()}/console#/payments`;
}
