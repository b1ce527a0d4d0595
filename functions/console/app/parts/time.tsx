import type { JSX } from "preact";

const momentFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minuteFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
// A day of the statistics is one in UTC, whatever zone the viewer is in.
const dayFormat = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

/** A day such as `2026-03-01` in the viewer's language. */
export function dayText(date: string): string {
  return dayFormat.format(new Date(date));
}

/** A moment in the viewer's zone and language, to the minute. */
export function timeText(at: string): string {
  return minuteFormat.format(new Date(at));
}

/** A moment in the viewer's zone; its tip has the seconds and the zone-free form. */
export function Time({ at }: { at: string }): JSX.Element {
  return (
    <time dateTime={at} title={`${momentFormat.format(new Date(at))} (${at})`}>
      {timeText(at)}
    </time>
  );
}

/** A moment for a list of facts; undefined when there is none. */
export function optionalTime(at: string | undefined): JSX.Element | undefined {
  return at === undefined ? undefined : <Time at={at} />;
}

/** What a field of day and time holds (`2026-03-01T10:30`, in the viewer's zone) as ISO 8601; undefined when empty. */
export function isoOf(localTime: string): string | undefined {
  const date = new Date(localTime);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
