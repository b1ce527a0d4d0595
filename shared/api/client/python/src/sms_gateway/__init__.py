"""The Python SDK for sending SMS."""

from . import types
from ._async_client import AsyncClient
from ._calls import UNSET, Page, Unset
from ._client import Client
from ._errors import ConnectionError, ErrorDetail, RequestError, SmsGatewayError, WebhookVerificationError
from ._version import __version__
from ._webhooks import sign_webhook, verify_webhook

__all__ = [
    "UNSET",
    "AsyncClient",
    "Client",
    "ConnectionError",
    "ErrorDetail",
    "Page",
    "RequestError",
    "SmsGatewayError",
    "Unset",
    "WebhookVerificationError",
    "__version__",
    "sign_webhook",
    "types",
    "verify_webhook",
]
