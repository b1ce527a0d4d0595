export const hoursPerMonth = 730;

/** Returns the calls of a rule of EventBridge in a month. */
export function callsPerMonth(expression: string): number {
  const [, count = "", unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const perHour = { minute: 60, hour: 1, day: 1 / 24 }[unit];
  if (perHour === undefined) throw new Error(`the benchmark does not know the schedule ${expression}`);
  return (hoursPerMonth * perHour) / Number(count);
}
