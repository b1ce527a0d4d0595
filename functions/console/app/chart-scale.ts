/**
 * The maximum of a chart scale: the next even, readable number at or above `most` (2, 4, 6, 8, 20, 40, 200 …). Its half is
 * a whole number of messages.
 */
export function scaleTop(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return Math.max(2, Math.ceil(most / (2 * unit)) * 2 * unit);
}
