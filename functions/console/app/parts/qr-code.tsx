import { useMemo } from "preact/hooks";
import { encodeQR } from "qr";

/** The empty border around a code, in modules (ISO/IEC 18004). */
const quietZone = 4;

/** A QR code. It is dark on light in dark mode too, because some apps cannot read inverted codes. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = useMemo(() => encodeQR(text, "raw", { border: quietZone }), [text]);
  const modules = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path d={modules.join("")} />
    </svg>
  );
}
