from __future__ import annotations

import builtins
from typing import Any, List, Optional, Tuple, TypedDict


class ErrorDetail(TypedDict):
    """A field that a VALIDATION_ERROR is about."""

    path: str
    message: str


class SmsGatewayError(Exception):
    """Any error that the package raises."""


class RequestError(SmsGatewayError):
    """A response that is not a success. Its text has the code, the message, and the first wrong field."""

    status: int
    #: The error code. Absent if API Gateway itself responded.
    code: Optional[str]
    message: str
    request_id: Optional[str]
    #: The fields that a VALIDATION_ERROR is about.
    details: List[ErrorDetail]
    #: The page that explains the code, if the gateway serves documentation.
    doc_url: Optional[str]
    #: How long to wait before the next try, if the response has `Retry-After`.
    retry_after_seconds: Optional[float]

    def __init__(self, status: int, body: Any, retry_after_seconds: Optional[float] = None) -> None:
        error = body.get("error") if isinstance(body, dict) else None
        fields = error if isinstance(error, dict) else {}
        self.status = status
        self.code = fields.get("code")
        self.message = fields.get("message") or f"the gateway responded with {status}"
        self.request_id = fields.get("requestId")
        self.details = fields.get("details") or []
        self.doc_url = fields.get("docUrl")
        self.retry_after_seconds = retry_after_seconds
        self._body = body
        wrong = "".join(f" {each['path']}: {each['message']}" for each in self.details[:1])
        super().__init__((f"{self.code}: {self.message}" if self.code else self.message) + wrong)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.status, self._body, self.retry_after_seconds)


class ConnectionError(SmsGatewayError, builtins.ConnectionError):
    """No valid response: a network error, or a time-out. `__cause__` is the reason."""


class WebhookVerificationError(SmsGatewayError):
    """The call does not come from the gateway, was changed, or is too old."""
