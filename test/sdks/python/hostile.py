"""Passes random values that no gateway sends to the installed SDK, and prints what a program sees of them."""

import asyncio
import io
import json
import logging
import os
import random
import sys
import traceback
from typing import Any, Dict, List

import httpx
from sms_gateway import AsyncClient, Client, WebhookVerificationError, sign_webhook, verify_webhook

url = os.environ["SMS_GATEWAY_URL"]
key = "nn_secret"
ends = ["\n", "\r\n", "\0", "\u201d", "é", "\ufeff", "\ud800"]
headers = {"X-Key": f"{key}\n"}
log = io.StringIO()
logging.basicConfig(stream=log, level=logging.DEBUG)
# Its debug log has the headers that it rejects.
logging.getLogger("httpcore").setLevel(logging.INFO)


def seen(act: Any) -> str:
    """The class of an error, its representation and its traceback, which has its text."""
    try:
        result = act()
        return f"accepted: {asyncio.run(result) if asyncio.iscoroutine(result) else result!r}"
    except Exception as error:
        return "".join([type(error).__name__, f": {error!r}\n", *traceback.format_exception(None, error, error.__traceback__)])


def credentials() -> Dict[str, Any]:
    shown: List[str] = []
    delays: List[float] = []
    for value in [f"{key}{end}x" for end in ends] + ["", " \n", key.encode(), 7]:
        for kind in (Client, AsyncClient):
            # A repeat would be an error of its own, because a number is no coroutine.
            make: Any = lambda *given, kind=kind, **more: kind(*given, sleep=delays.append, **more)
            http: Any = (httpx.Client if kind is Client else httpx.AsyncClient)(headers=headers)
            shown += [
                seen(lambda: make(url, value)),
                seen(lambda: make(url).with_options(headers={"X-Key": value})),
                seen(lambda: make(url).with_options(headers={f"X {key}": "1"})),
                seen(lambda: make(url).send_sms(to="1", message="x", idempotency_key=value)),
                seen(lambda: make(f"https://ada:{key}@sms.example.com")),
                seen(lambda: make(f"https://ada:{key}@sms.example.com:x")),
                seen(lambda: make(value)),
                seen(lambda: make(url, http_client=http).get_wallet()),
            ]
    leaks = [each for each in [*shown, log.getvalue()] if key in each]
    return {"leaks": leaks, "classes": sorted({each.split(":")[0] for each in shown}), "delays": delays}


def webhooks(seed: int) -> List[str]:
    pick = random.Random(seed)
    secret = "whsec_" + "A" * 43 + "="
    wrong: List[Any] = ["9" * 400, "9" * 5000, "\u0661", "²", "-1", "", "v1,", "v1,====", "v1,é", "zz", "{", "[" * 100_000]
    wrong += [*ends, b"\xff\xfe", bytearray(b"{}"), memoryview(b"\xff"), None, 7, True, [], ["a"], {}, {"event": "ping"}]
    outcomes = set()
    for _ in range(20_000):
        signed = sign_webhook('{"event":"ping"}', secret)
        call = [
            '{"event":"ping"}',
            {name: value if pick.random() < 0.7 else pick.choice(wrong) for name, value in signed.items()},
            secret,
        ]
        for place in range(3):
            call[place] = call[place] if pick.random() < 0.8 else pick.choice(wrong)
        try:
            verified = verify_webhook(*call, allow_unsigned_time=pick.random() < 0.5)  # type: ignore[arg-type]
            outcomes.add(f"accepted {json.dumps(verified)}")
        except WebhookVerificationError:
            outcomes.add("rejected")
        except Exception as error:
            outcomes.add(f"seed {seed}: {error!r} of {call!r:.300}")
    return sorted(outcomes)


print(json.dumps(webhooks(int(sys.argv[1])) if len(sys.argv) > 1 else credentials()))
