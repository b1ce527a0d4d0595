from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Callable, Dict, Mapping, Sequence, Union

from ._errors import WebhookVerificationError
from .types import WebhookPayload

DEFAULT_TOLERANCE_SECONDS = 300
SECRET_PREFIX = "whsec_"


def verify_webhook(
    payload: Union[str, bytes],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = DEFAULT_TOLERANCE_SECONDS,
    allow_unsigned_time: bool = False,
    now: Callable[[], float] = time.time,
) -> WebhookPayload:
    """Verifies that a webhook call comes from the gateway, and parses its body.

    The headers of Standard Webhooks decide, because they also sign the time, which may differ from the clock by
    `tolerance_seconds`. With `allow_unsigned_time`, `X-Service-Signature` alone is sufficient. It signs no time, so
    anyone can repeat a recorded call later.

    :param payload: the raw body, before any parsing
    :param headers: the headers of the request, in any case
    :param secret: the signing secret (`whsec_…`); during a rotation, both secrets
    :raises WebhookVerificationError: if the call is not from the gateway, was changed, or is too old
    """
    body = payload.encode() if isinstance(payload, str) else payload
    secrets = [secret] if isinstance(secret, str) else secret
    fields = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp, signatures = (
        fields.get(name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    if event_id is not None and timestamp is not None and signatures is not None:
        is_number = timestamp.isascii() and timestamp.isdigit()
        if not (is_number and abs(now() - int(timestamp)) <= tolerance_seconds):
            raise WebhookVerificationError("the time of the webhook call is not within the tolerance")
        signed = f"{event_id}.{timestamp}.".encode() + body
        given = [_decoded(each[3:]) for each in signatures.split(" ") if each.startswith("v1,")]
        _require_signature([_decoded(_without_prefix(each)) for each in secrets], signed, given)
    else:
        signature = fields.get("x-service-signature")
        if signature is None:
            raise WebhookVerificationError("the webhook call has no signature")
        if not allow_unsigned_time:
            raise WebhookVerificationError("the webhook call has no signed time")
        try:
            given = [bytes.fromhex(signature)]
        except ValueError:
            given = []
        _require_signature([each.encode() for each in secrets], body, given)
    event: WebhookPayload = json.loads(body)
    return event


def sign_webhook(
    payload: str, secret: str, *, event_id: str = "evt_test", now: Callable[[], float] = time.time
) -> Dict[str, str]:
    """Returns the headers of a webhook call as the gateway signs it, for tests of a receiver."""
    timestamp = str(int(now()))
    signed = f"{event_id}.{timestamp}.{payload}".encode()
    standard = hmac.new(_decoded(_without_prefix(secret)), signed, hashlib.sha256).digest()
    return {
        "Content-Type": "application/json",
        "X-Service-Event": json.loads(payload)["event"],
        "X-Service-Signature": hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest(),
        "webhook-id": event_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(standard).decode()}",
    }


def _require_signature(keys: Sequence[bytes], signed: bytes, given: Sequence[bytes]) -> None:
    for key in keys:
        if not key:
            raise WebhookVerificationError("the secret of the webhook is empty or malformed")
        expected = hmac.new(key, signed, hashlib.sha256).digest()
        if any(hmac.compare_digest(expected, signature) for signature in given):
            return
    raise WebhookVerificationError("the signature of the webhook call is not valid")


def _without_prefix(secret: str) -> str:
    return secret[len(SECRET_PREFIX) :] if secret.startswith(SECRET_PREFIX) else secret


def _decoded(text: str) -> bytes:
    """The bytes of Base64. Other text has none, so that it is never a valid signature."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
