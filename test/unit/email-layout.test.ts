import { expect, it } from "vitest";

import { layOut, onOneLine, type EmailText } from "../../shared/notices/emails/layout.ts";

const text: EmailText = {
  subject: "Hello",
  paragraphs: ["One.", "Two."],
  link: { label: "Open", url: "https://sms.example.com/account#verify=1&2" },
  closing: "Bye.",
};

it("lays out an email as plain text, with its link on a line of its own", () => {
  expect(layOut("ada@example.com", text)).toMatchObject({
    to: "ada@example.com",
    subject: "Hello",
    text: "One.\n\nTwo.\n\nOpen:\nhttps://sms.example.com/account#verify=1&2\n\nBye.\n",
  });
});

it("lays it out as HTML that shows the same, and leads to the same place", () => {
  const { html } = layOut("ada@example.com", text);
  expect(html).toContain("<p>One.</p>\n<p>Two.</p>");
  expect(html).toContain('<a href="https://sms.example.com/account#verify=1&amp;2">Open</a>');
  expect(html).not.toContain("<a href></a>");
});

it("escapes HTML in a text, at any position", () => {
  const evil = `<img src=x onerror='alert("1")'>&`;
  const { html, text: plain } = layOut("ada@example.com", {
    subject: evil,
    paragraphs: [evil],
    link: { label: evil, url: `https://sms.example.com/${evil}` },
    closing: evil,
  });
  expect(html).not.toContain("<img");
  expect(html).not.toMatch(/="[^"]*onerror='/);
  expect(html.split("&lt;img src=x onerror=&#39;alert(&quot;1&quot;)&#39;&gt;&amp;")).toHaveLength(7);
  expect(plain).toContain(evil);
});

it("keeps a name with line breaks, or with invisible characters, on its line", () => {
  const name = "Ada\r\nBcc: eve@example.com\n\u2028\u202E\0 shop ";
  expect(onOneLine(name)).toBe("Ada Bcc: eve@example.com shop");
  const { subject, html } = layOut("ada@example.com", { ...text, subject: `Hello ${name}` });
  expect(subject).toBe("Hello Ada Bcc: eve@example.com shop");
  expect(html).toContain("<title>Hello Ada Bcc: eve@example.com shop</title>");
});
