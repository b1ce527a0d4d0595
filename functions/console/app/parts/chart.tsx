import { useSignal } from "@preact/signals";
import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";

import type { DashboardStats } from "../../../../shared/api/contract/dashboard.ts";
import { scaleTop } from "../chart-scale.ts";
import { amountText, countText } from "./money.tsx";
import { Table } from "./table.tsx";
import { dayText } from "./time.tsx";

type Day = DashboardStats["days"][number];
type Counts = Pick<Day, "accepted" | "date" | "failed">;

const width = 600;
const height = 160;
const gapShare = 0.2;
const ranges = [7, 30] as const;

/**
 * The messages per day as bars, newest to the right, failed messages hatched on top. An SVG scales and takes the page's
 * colors without a chart library. The table below has the same numbers.
 * @param days the newest first
 */
export function DayChart({ days }: { days: readonly Day[] }) {
  const range = useSignal<number>(30);
  const shown = days.slice(0, range.value);
  const accepted = shown.reduce((sum, day) => sum + day.accepted, 0);
  const spend = shown.reduce((sum, day) => sum + day.spend, 0);
  return (
    <figure class="chart">
      <figcaption class="row apart">
        <span class="muted">
          {countText(accepted, "message")}, {amountText(spend)} spent
        </span>
        <div class="row" role="group" aria-label="Period">
          {ranges.map((each) => (
            <button
              key={each}
              type="button"
              class="small"
              aria-pressed={range.value === each}
              onClick={() => {
                range.value = each;
              }}
            >
              {each} days
            </button>
          ))}
        </div>
      </figcaption>
      <Plot key={range.value} days={shown.toReversed()} textOf={textOf} />
      <details>
        <summary>View as table</summary>
        <Table
          caption="Messages by day"
          rows={shown}
          keyOf={({ date }) => date}
          columns={{
            "Day (UTC)": ({ date }) => dayText(date),
            Accepted: { number: (day) => countText(day.accepted) },
            Sent: { number: ({ sent }) => countText(sent) },
            Failed: { number: ({ failed }) => countText(failed) },
          }}
        />
      </details>
    </figure>
  );
}

/** The bars of days, the newest last, with their scale. Pointers and arrow keys select a day, whose text is shown above. */
export function Plot<D extends Counts>(shown: { days: readonly D[]; textOf: (day: D) => string }) {
  const { days } = shown;
  const last = days.length - 1;
  const chosen = useSignal(last);
  const day = days[chosen.value];
  const text = day === undefined ? "" : shown.textOf(day);
  const top = scaleTop(Math.max(0, ...days.map(({ accepted }) => accepted)));
  const choose = (index: number): void => {
    chosen.value = Math.min(last, Math.max(0, index));
  };
  const point = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    const { left, width: widthPx } = event.currentTarget.getBoundingClientRect();
    choose(Math.floor(((event.clientX - left) / widthPx) * days.length));
  };
  const move = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const { value } = chosen;
    const next: number | undefined = { ArrowLeft: value - 1, ArrowRight: value + 1, Home: 0, End: last }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
  };
  return (
    <>
      <p class="reading number">{text}</p>
      <div class="plot">
        <div class="scale number" aria-hidden="true">
          {[top, top / 2, 0].map((mark) => (
            <span key={mark}>{countText(mark)}</span>
          ))}
        </div>
        <div
          class="bars"
          role="slider"
          tabIndex={0}
          aria-label="Day"
          aria-valuemin={1}
          aria-valuemax={days.length}
          aria-valuenow={chosen.value + 1}
          aria-valuetext={text}
          onKeyDown={move}
          onPointerDown={point}
          onPointerMove={point}
        >
          <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
            <Bars days={days} top={top} chosen={chosen.value} />
          </svg>
        </div>
      </div>
      <div class="axis" aria-hidden="true">
        <span>{days[0] === undefined ? "" : dayText(days[0].date)}</span>
        <span>{days.length < 2 ? "" : dayText(days.at(-1)?.date ?? "")}</span>
      </div>
    </>
  );
}

function Bars({ days, top, chosen }: { days: readonly Counts[]; top: number; chosen: number }) {
  const step = width / Math.max(1, days.length);
  const barWidth = step * (1 - gapShare);
  const heightOf = (count: number): number => (count / top) * height;
  return (
    <>
      <defs>
        <pattern id="failed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="bar-failed-ground" width="6" height="6" />
          <rect class="bar-failed" width="3" height="6" />
        </pattern>
      </defs>
      <rect class="bar-room" x={chosen * step} y={0} width={step} height={height} />
      {[0, height / 2, height].map((y) => (
        <line key={y} class="grid" x1={0} x2={width} y1={y} y2={y} vector-effect="non-scaling-stroke" />
      ))}
      {days.map((day, index) => {
        const failed = heightOf(day.failed);
        const others = heightOf(day.accepted - day.failed);
        const x = index * step + (step - barWidth) / 2;
        return (
          <g key={day.date}>
            <rect class="bar" x={x} y={height - others} width={barWidth} height={others} />
            <rect x={x} y={height - others - failed} width={barWidth} height={failed} fill="url(#failed)" />
          </g>
        );
      })}
    </>
  );
}

function textOf({ date, accepted, sent, failed }: Day): string {
  return `${dayText(date)}: ${countText(accepted)} accepted, ${countText(sent)} sent, ${countText(failed)} failed`;
}
