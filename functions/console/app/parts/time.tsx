import type { JSX } from "preact";

const momentFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minuteFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
// Statistics use UTC days, regardless of the viewer's time zone.
const dayFormat = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

const monthFormat = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });

/** A month such as `2026-03` in the viewer's locale. */
export function monthText(month: string): string {
  return monthFormat.format(new Date(month));
}

/** A day such as `2026-03-01` in the viewer's locale. */
export function dayText(date: string): string {
  return dayFormat.format(new Date(date));
}

/** A time to the minute, in the viewer's time zone and locale. */
function timeText(at: string): string {
  return minuteFormat.format(new Date(at));
}

/** A time in the viewer's time zone; its tooltip has the seconds and the ISO 8601 form. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${momentFormat.format(new Date(at))} (${at})`}>
      {timeText(at)}
    </time>
  );
}

/** A time for a list of facts; undefined when there is none. */
export function optionalTime(at: string | undefined): JSX.Element | undefined {
  return at === undefined ? undefined : <Time at={at} />;
}

/** Converts the value of a datetime-local field to ISO 8601; undefined when empty. */
export function isoOf(localTime = ""): string | undefined {
  const date = new Date(localTime);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
