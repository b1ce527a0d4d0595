/** Whether an Accept-Encoding header accepts gzip. A weight of 0 excludes a coding (RFC 9110, 12.5.3). */
export function acceptsGzip(acceptEncoding = ""): boolean {
  return acceptEncoding.split(",").some((each) => {
    const [name = "", weight = "q=1"] = each.toLowerCase().split(";");
    return name.trim() === "gzip" && Number(weight.trim().slice("q=".length)) > 0;
  });
}
