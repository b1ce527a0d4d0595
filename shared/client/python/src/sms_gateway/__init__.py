"""The Python SDK for sending SMS."""

from . import types
from ._async_client import AsyncClient
from ._calls import UNSET, Page, Unset
from ._client import Client
from ._errors import ConnectionError, ErrorDetail, RequestError, WebhookVerificationError
from ._version import __version__
from ._webhooks import verify_webhook

__all__ = [
    "UNSET",
    "AsyncClient",
    "Client",
    "ConnectionError",
    "ErrorDetail",
    "Page",
    "RequestError",
    "Unset",
    "WebhookVerificationError",
    "__version__",
    "types",
    "verify_webhook",
]
