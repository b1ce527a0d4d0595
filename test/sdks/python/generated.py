"""Uses the client that openapi-generator makes, with a test key. Reads events, and prints the result as JSON."""

import json
import os
import sys

import openapi_client as api

configuration = api.Configuration(host=os.environ["SMS_GATEWAY_URL"], access_token=os.environ["SMS_GATEWAY_KEY"])
with api.ApiClient(configuration) as client:
    sms, webhooks = api.SmsApi(client), api.WebhooksApi(client)
    sent = sms.send_sms(api.SendSmsRequest(to="15005550007", message="Hello")).data
    webhook = webhooks.create_webhook(api.CreateWebhookRequest(url="http://127.0.0.1:9/hook")).data
    result = {
        "sent": sent.test,
        "read": sms.get_sms(sent.id).data.message,
        "listed": [message.message for message in sms.list_sms().data],
        "hook": webhook.test,
        "deleted": webhooks.delete_webhook(webhook.id).data.deleted,
        "events": [json.loads(api.WebhookPayload.from_dict(event).to_json()) for event in json.load(sys.stdin)],
    }
print(json.dumps(result))
