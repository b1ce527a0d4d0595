const browsers = { Edg: "Edge", OPR: "Opera", Firefox: "Firefox", Chrome: "Chrome", Safari: "Safari" };
const systems = { iPhone: "iPhone", iPad: "iPad", Android: "Android", Windows: "Windows", Mac: "macOS" };

/** Returns the browser and the system that a User-Agent names, or the name of a program. */
export function deviceOf(userAgent = ""): string {
  const nameIn = (names: Readonly<Record<string, string>>): string | undefined =>
    Object.entries(names).find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = nameIn(browsers) ?? (userAgent.replace(/[ /].*/, "") || "Unknown");
  const system = nameIn(systems) ?? (userAgent.includes("Linux") ? "Linux" : undefined);
  return system === undefined ? browser : `${browser} on ${system}`;
}
