/*
 * Code samples that send a message. They need only the standard library of their language.
 */

export interface Snippet {
  readonly language: string;
  readonly file: string;
  readonly code: string;
}

const message = { to: "15005550007", message: "Hello from your server", senderId: "ACME" };

/** The code samples for a key. A secret has only letters, digits and underscores and needs no escaping. */
export function snippetsFor(baseUrl: string, secret: string): readonly Snippet[] {
  const url = `${baseUrl}/v1/sms/send`;
  const json = JSON.stringify(message);
  return [
    {
      language: "curl",
      file: "send.sh",
      code: `curl ${url} \\
  -H 'Authorization: Bearer ${secret}' \\
  -H 'Content-Type: application/json' \\
  -d '${json}'
`,
    },
    {
      language: "TypeScript",
      file: "send.ts",
      code: `const response = await fetch("${url}", {
  method: "POST",
  headers: {
    Authorization: "Bearer ${secret}",
    "Content-Type": "application/json",
    // Repeated requests with the same key are processed only once.
    "Idempotency-Key": crypto.randomUUID(),
  },
  body: JSON.stringify(${json}),
});
console.log(response.status, await response.json());
`,
    },
    {
      language: "Python",
      file: "send.py",
      code: `import json
import urllib.request
import uuid

request = urllib.request.Request(
    "${url}",
    method="POST",
    headers={
        "Authorization": "Bearer ${secret}",
        "Content-Type": "application/json",
        # Repeated requests with the same key are processed only once.
        "Idempotency-Key": str(uuid.uuid4()),
    },
    data=json.dumps(${json}).encode(),
)
with urllib.request.urlopen(request) as response:
    print(response.status, json.load(response))
`,
    },
    {
      language: "PHP",
      file: "send.php",
      code: `<?php
$context = stream_context_create(["http" => [
    "method" => "POST",
    "header" => [
        "Authorization: Bearer ${secret}",
        "Content-Type: application/json",
        // Repeated requests with the same key are processed only once.
        "Idempotency-Key: " . bin2hex(random_bytes(16)),
    ],
    "content" => '${json}',
    "ignore_errors" => true,
]]);
echo file_get_contents("${url}", false, $context), PHP_EOL;
`,
    },
    {
      language: "Go",
      file: "send.go",
      code: `package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	body := strings.NewReader(\`${json}\`)
	request, err := http.NewRequest("POST", "${url}", body)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer ${secret}")
	request.Header.Set("Content-Type", "application/json")
	// Repeated requests with the same key are processed only once.
	key := make([]byte, 16)
	rand.Read(key)
	request.Header.Set("Idempotency-Key", fmt.Sprintf("%x", key))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	result, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.Status, string(result))
}
`,
    },
  ];
}
