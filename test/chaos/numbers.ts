import { routedPrefix } from "./carriers.ts";

/** Numbers that the sandbox throttles at first, so that they can wait for a carrier to recover. */
export const patientNumbers: readonly string[] = ["15005550003", "15005550004"];
/** Numbers that the sandbox rejects. */
export const rejectedNumbers: readonly string[] = ["15005550001", "15005550002", "15005550006"];
/** Numbers that it accepts immediately, more than of the other kinds. */
export const acceptedNumbers: readonly string[] = [
  "15005550000",
  "15005550005",
  "15005550010",
  "15005550011",
  "15005550009",
];

/** Numbers of the two carriers, which behave at random. */
export const routedNumbers: readonly string[] = Array.from(
  { length: 5 },
  (_, index) => `${routedPrefix}770090012${index}`,
);
