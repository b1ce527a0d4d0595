import type { JSX } from "preact";

import type { DashboardStats } from "../../../../shared/contract/dashboard.ts";
import { countText } from "./money.tsx";
import { Table } from "./table.tsx";
import { dayText } from "./time.tsx";

type Day = DashboardStats["days"][number];

const width = 600;
const height = 160;
const gap = 3;

/**
 * The messages of some days as bars, newest to the right; what failed stands hatched on top. Thirty bars need no library,
 * and in SVG they take the colours of the page and its size. The table below says the same in words.
 */
export function DayChart({ days }: { days: readonly Day[] }): JSX.Element {
  const oldestFirst = days.toReversed();
  const most = Math.max(1, ...days.map(({ accepted }) => accepted));
  const step = width / Math.max(1, days.length);
  const heightOf = (count: number): number => (count / most) * (height - 4);
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <defs>
          <pattern
            id="failed"
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect class="bar-failed-ground" width="6" height="6" />
            <rect class="bar-failed" width="3" height="6" />
          </pattern>
        </defs>
        {oldestFirst.map((day, index) => {
          const failed = heightOf(day.failed);
          const others = heightOf(day.accepted - day.failed);
          const x = index * step + gap / 2;
          return (
            <g key={day.date}>
              <title>{`${dayText(day.date)}: ${countText(day.accepted)} accepted, ${countText(day.failed)} failed`}</title>
              <rect class="bar-room" x={x} y={0} width={step - gap} height={height} />
              <rect class="bar" x={x} y={height - others} width={step - gap} height={others} />
              <rect
                x={x}
                y={height - others - failed}
                width={step - gap}
                height={failed}
                fill="url(#failed)"
              />
            </g>
          );
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{oldestFirst[0] === undefined ? "" : dayText(oldestFirst[0].date)}</span>
        <span>most in a day: {countText(most)}</span>
        <span>today</span>
      </div>
      <details>
        <summary>The same as a table</summary>
        <Table
          caption="Messages by day"
          rows={days}
          keyOf={({ date }) => date}
          columns={[
            { title: "Day (UTC)", show: ({ date }) => dayText(date) },
            { title: "Accepted", isNumber: true, show: ({ accepted }) => countText(accepted) },
            { title: "Sent", isNumber: true, show: ({ sent }) => countText(sent) },
            { title: "Failed", isNumber: true, show: ({ failed }) => countText(failed) },
          ]}
        />
      </details>
    </figure>
  );
}
