import {
  SendEmailCommand,
  type SESv2ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from "@aws-sdk/client-sesv2";
import { afterEach, expect, it, vi } from "vitest";

import { sendWithSes } from "../../shared/notices/emails/send-with-ses.ts";
import { Ses } from "../../shared/platform/aws/ses.ts";
import { mockAws } from "../support/mock-aws.ts";

const ses = mockAws<ServiceInputTypes, ServiceOutputTypes, SESv2ClientResolvedConfig>(Ses);

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
    await sendWithSes("sms@example.com", {
      to: "ada@example.com",
      subject: "Hello",
      text: "Hello",
      html: "Hello",
    });
    const [sent] = ses.commandCalls(SendEmailCommand);
    expect(sent?.args[0].input.ConfigurationSetName).toBe(name === "" ? undefined : name);
  },
);
