/** The part of csv-parse that the console uses. The package's own types would add the types of Node.js. */
export function parse(
  text: string,
  options: Readonly<Record<string, boolean | string | number | readonly string[]>>,
): string[][];
