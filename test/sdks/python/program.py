"""Uses the installed SDK. Reads a command and its input from standard input, and prints the result as JSON."""

import asyncio
import builtins
import datetime
import json
import os
import pickle
import sys
from typing import Any, Dict, List, Mapping

from sms_gateway import (
    UNSET,
    AsyncClient,
    Client,
    ConnectionError,
    RequestError,
    SmsGatewayError,
    sign_webhook,
    types,
    verify_webhook,
)
from sms_gateway._calls import given

url = os.environ["SMS_GATEWAY_URL"]
key = os.environ["SMS_GATEWAY_KEY"]


def send(to: str) -> Dict[str, Any]:
    with Client(base_url=url, credential=key) as client:
        sent: types.AcceptedMessage = client.send_sms(to=to, message="Hello", sender_id="ACME")
        client.send_sms(to=to, message="Hello again", sender_id="ACME")
        listed = [message["id"] for message in client.list_sms(limit=1)]
        page = client.list_sms(limit=1).page()
        changed = client.update_wallet(low_balance_threshold=0.5)
        kept = client.update_wallet(daily_spend_cap=UNSET)
        reset = client.update_wallet(low_balance_threshold=None)
        try:
            client.send_sms(to="nobody", message="Hello")
            code = None
        except RequestError as error:
            code = f"{error.status} {error.code} {error.details[0]['path']} {error.request_id is not None}"
    return {
        "id": sent["id"],
        "read": client_of_thread(sent["id"]),
        "listed": listed,
        "page": [len(page.rows), page.meta["total"]],
        "thresholds": [each.get("lowBalanceThreshold") for each in (changed, kept, reset)],
        "code": code,
    }


def client_of_thread(message_id: str) -> str:
    client = Client(base_url=url + "/", credential=key)
    return client.get_sms(message_id)["id"]


async def send_async(to: str) -> Dict[str, Any]:
    async with AsyncClient(base_url=url, credential=key) as client:
        sent = await client.send_sms(to=to, message="Hello", sender_id="ACME")
        listed = [message["id"] async for message in client.list_sms(limit=1)]
        page = await client.list_sms(limit=1).page()
        return {"id": sent["id"], "listed": listed, "page": [len(page.rows), page.meta["total"]]}


def verify(
    payload: str, headers: Mapping[str, str], secret: str, tolerance: str = "300", **options: Any
) -> types.WebhookPayload:
    return verify_webhook(payload.encode(), headers, secret, tolerance_seconds=float(tolerance), **options)


def rest() -> Dict[str, Any]:
    payload, secret = '{"event":"ping"}', "whsec_" + "A" * 43 + "="
    client = Client(base_url=url + "/v1/\n", credential=f"\ufeff{key}\r\n")
    result: Dict[str, Any] = {"event": verify_webhook(payload, sign_webhook(payload, secret), secret)["event"]}
    time = datetime.datetime(2099, 1, 2, 4, 4, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
    result["scheduled"] = given({"time": time})["time"]
    result["numbers"] = given({"from": "+15005550000", "to": "+12065550100", "message": "+1"})
    result["batch"] = given({"messages": [{"to": "+15005550000", "message": "+1"}]})
    try:
        client.with_options(headers={"X-Trace": "1"}, timeout_seconds=20).send_sms(
            to="nobody", message="Hello", scheduled_at=time
        )
    except SmsGatewayError as error:
        copied = pickle.loads(pickle.dumps(error))
        result["error"] = str(copied)
        result["isOfPackage"] = isinstance(copied, RequestError) and copied.details == [*copied.details]
    try:
        client.get_sms("")
    except ValueError as wrong:
        result["empty"] = str(wrong)
    try:
        Client(base_url="http://127.0.0.1:1", max_retries=0).get_health()
    except builtins.ConnectionError as lost:
        result["refused"] = isinstance(lost, SmsGatewayError)
    return result


def repeat(operation: str) -> Dict[str, Any]:
    """Calls an operation of a server that fails as scripted, without real delays."""
    delays: List[float] = []
    client = Client(
        base_url=url, credential=key, timeout_seconds=0.5, sleep=delays.append, random=lambda: 0.5
    )
    return {"outcome": outcome(lambda: perform(client, operation)), "delays": delays}


async def repeat_async() -> Dict[str, Any]:
    delays: List[float] = []

    async def sleep(seconds: float) -> None:
        delays.append(seconds)

    client = AsyncClient(base_url=url, credential=key, sleep=sleep, random=lambda: 0.5)
    sent = await client.send_sms(to="15005550000", message="Hello")
    return {"outcome": sent["id"], "delays": delays}


def perform(client: Client, operation: str) -> str:
    if operation == "send":
        return client.send_sms(to="15005550000", message="Hello")["id"]
    if operation == "create":
        return client.create_webhook(url="https://shop.example/sms-events")["id"]
    return str(client.get_wallet()["balance"])


def outcome(perform: Any) -> str:
    try:
        return str(perform())
    except RequestError as error:
        return f"RequestError {error.status} {error.code} {error.retry_after_seconds}"
    except ConnectionError:
        return "ConnectionError"


def main() -> None:
    given = json.load(sys.stdin)
    command = given.pop("command")
    commands: Dict[str, Any] = {"send": send, "verify": verify, "repeat": repeat, "rest": rest}
    asynchronous: Dict[str, Any] = {"send_async": send_async, "repeat_async": repeat_async}
    if command in asynchronous:
        result = asyncio.run(asynchronous[command](**given))
    else:
        result = commands[command](**given)
    print(json.dumps(result))


main()
