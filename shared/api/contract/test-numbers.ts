/** The numbers that decide the outcome of a message at the sandbox carrier, which gets all test messages. */
export const testNumbers = {
  "15005550001": "`failed`: the number is invalid",
  "15005550002": "`failed`: no carrier delivers to it",
  "15005550003": "`sent` at the third attempt, after about six seconds",
  "15005550004": "`sent` at the third attempt, after about six seconds",
  "15005550006": "`failed`: error of the carrier",
  "15005550007": "`sent`, and `delivered` after a second",
  "15005550008": "`sent`, and `undelivered` after a second",
  "15005550009": "`sent`, and `delivered` after 30 seconds",
  "15005550010": "`sent`, and replies to a test message after a second",
} as const;
