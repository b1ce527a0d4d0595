from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

from ._errors import WebhookVerificationError
from .types import WebhookPayload

DEFAULT_TOLERANCE_SECONDS = 300
#: Times with more digits are too far away, and a float cannot hold the largest ones.
MAX_DIGITS = 15
SECRET_PREFIX = "whsec_"


def verify_webhook(
    payload: Union[str, bytes, bytearray, memoryview],
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
    if not isinstance(payload, (str, bytes, bytearray, memoryview)):
        raise WebhookVerificationError("payload must be the raw body, before any parsing")
    body = _encoded(payload) if isinstance(payload, str) else bytes(payload)
    secrets = [_trimmed(each) for each in (secret if isinstance(secret, (list, tuple)) else [secret])]
    event_id, timestamp, signatures, service = (
        _header(headers, name)
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature", "x-service-signature")
    )
    if event_id is not None and timestamp is not None and signatures is not None:
        is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= MAX_DIGITS
        if not (is_number and abs(now() - int(timestamp)) <= tolerance_seconds):
            raise WebhookVerificationError("the time of the webhook call is not within the tolerance")
        signed = _encoded(f"{event_id}.{timestamp}.") + body
        given = [_decoded(each[3:]) for each in signatures.split(" ") if each.startswith("v1,")]
        _require_signature([_decoded(_without_prefix(each)) for each in secrets], signed, given)
    else:
        if service is None:
            raise WebhookVerificationError("the webhook call has no signature")
        if not allow_unsigned_time:
            raise WebhookVerificationError("the webhook call has no signed time")
        try:
            given = [bytes.fromhex(service)]
        except ValueError:
            given = []
        _require_signature([_encoded(each) for each in secrets], body, given)
    try:
        event: WebhookPayload = json.loads(body)
    except (ValueError, RecursionError):
        raise WebhookVerificationError("the body of the webhook call is not JSON") from None
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


def _header(headers: Any, name: str) -> Optional[str]:
    """A header in any case. What is no text is no header, because Python calls this without types too."""
    fields = headers.items() if hasattr(headers, "items") else ()
    values = [value for key, value in fields if isinstance(key, str) and key.lower() == name]
    return values[-1] if values and isinstance(values[-1], str) else None


def _trimmed(secret: Any) -> str:
    """A secret without white space around it, which files and variables often have."""
    return secret.strip() if isinstance(secret, str) else ""


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # The error has the whole text, which may be the secret.
        raise WebhookVerificationError("the webhook call or its secret is not Unicode") from None


def _without_prefix(secret: str) -> str:
    return secret[len(SECRET_PREFIX) :] if secret.startswith(SECRET_PREFIX) else secret


def _decoded(text: str) -> bytes:
    """The bytes of Base64. Other text has none, so that it is never a valid signature."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
