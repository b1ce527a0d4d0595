import { afterEach, expect, it, vi } from "vitest";

import { sendWithSes } from "../../shared/notices/emails/send-with-ses.ts";
import { Ses } from "../../shared/platform/aws/ses.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it.each(["transactional", ""])(
  "an email is sent with the configuration set %j of the stage",
  async (name) => {
    vi.stubEnv("EMAIL_NAME", "SMS gateway");
    vi.stubEnv("EMAIL_CONFIGURATION_SET", name);
    const send = vi.spyOn(Ses.prototype, "send").mockResolvedValue({ MessageId: "1" });
    await sendWithSes("sms@example.com", {
      to: "ada@example.com",
      subject: "Hello",
      text: "Hello",
      html: "Hello",
    });
    expect(send).toHaveBeenCalledOnce();
    expect(send.mock.lastCall?.[0].input).toMatchObject({
      ConfigurationSetName: name === "" ? undefined : name,
    });
  },
);
