/** Whether an Accept-Encoding header takes gzip; a coding with a weight of 0 is refused (RFC 9110, 12.5.3). */
export function acceptsGzip(acceptEncoding = ""): boolean {
  return acceptEncoding.split(",").some((each) => {
    const [name = "", weight = "q=1"] = each.toLowerCase().split(";");
    return name.trim() === "gzip" && Number(weight.trim().slice("q=".length)) > 0;
  });
}
