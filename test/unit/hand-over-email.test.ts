import { SendEmailCommand, SESv2Client } from "@aws-sdk/client-sesv2";
import { mockClient } from "aws-sdk-client-mock";
import { afterEach, expect, it, vi } from "vitest";

import { handOver } from "../../shared/emails/hand-over.ts";

const ses = mockClient(SESv2Client);

afterEach(() => {
  vi.unstubAllEnvs();
  ses.reset();
});

it.each(["transactional", ""])(
  "an email is sent with the configuration set %j of the stage",
  async (name) => {
    vi.stubEnv("EMAIL_NAME", "SMS gateway");
    vi.stubEnv("EMAIL_CONFIGURATION_SET", name);
    ses.on(SendEmailCommand).resolves({ MessageId: "1" });
    await handOver("sms@example.com", {
      to: "ada@example.com",
      subject: "Hello",
      text: "Hello",
      html: "Hello",
    });
    const [sent] = ses.commandCalls(SendEmailCommand);
    expect(sent?.args[0].input.ConfigurationSetName).toBe(name === "" ? undefined : name);
  },
);
