from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Callable, Mapping, Optional, Sequence, Union

from ._errors import WebhookVerificationError
from .types import WebhookPayload

DEFAULT_TOLERANCE_SECONDS = 300
SECRET_PREFIX = "whsec_"


def verify_webhook(
    payload: Union[str, bytes],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: Optional[float] = None,
    now: Callable[[], float] = time.time,
) -> WebhookPayload:
    """Verifies that a webhook call comes from the gateway, and parses its body.

    The headers of Standard Webhooks decide if they are present, because they also sign the time, which may differ
    from the clock by 300 seconds. Otherwise `X-Service-Signature` decides, unless `tolerance_seconds` is given:
    it also rejects calls without a signed time.

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
        tolerance = DEFAULT_TOLERANCE_SECONDS if tolerance_seconds is None else tolerance_seconds
        if not (timestamp.isascii() and timestamp.isdigit()) or abs(now() - int(timestamp)) > tolerance:
            raise WebhookVerificationError("the time of the webhook call is not within the tolerance")
        signed = f"{event_id}.{timestamp}.".encode() + body
        given = [_decoded(each[3:]) for each in signatures.split(" ") if each.startswith("v1,")]
        _require_signature([_decoded(_without_prefix(each)) for each in secrets], signed, given)
    else:
        signature = fields.get("x-service-signature")
        if signature is None:
            raise WebhookVerificationError("the webhook call has no signature")
        if tolerance_seconds is not None:
            raise WebhookVerificationError("the webhook call has no signed time")
        try:
            given = [bytes.fromhex(signature)]
        except ValueError:
            given = []
        _require_signature([each.encode() for each in secrets], body, given)
    event: WebhookPayload = json.loads(body)
    return event


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
