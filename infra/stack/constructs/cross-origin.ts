/** The headers of a request that a page of another origin may send. The console's cookie and its header are not among them. */
export const crossOriginRequestHeaders = ["Authorization", "Content-Type", "Idempotency-Key"];

/** The headers of a response that such a page may read. */
export const crossOriginResponseHeaders = [
  "Allow",
  "Idempotency-Key-Ignored",
  "Idempotent-Replayed",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "X-Request-Id",
];
