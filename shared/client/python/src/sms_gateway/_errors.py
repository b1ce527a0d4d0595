from __future__ import annotations

from typing import Any, List, Optional, TypedDict


class ErrorDetail(TypedDict):
    """A field that a VALIDATION_ERROR is about."""

    path: str
    message: str


class RequestError(Exception):
    """A response that is not a success."""

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
        super().__init__(f"{self.code}: {self.message}" if self.code else self.message)


class ConnectionError(Exception):
    """No valid response: a network error, or a time-out. `__cause__` is the reason."""


class WebhookVerificationError(Exception):
    """The call does not come from the gateway, was changed, or is too old."""
