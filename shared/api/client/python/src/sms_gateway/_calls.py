"""What the two clients share: how a request looks, what its response means, and whether it is repeated."""

from __future__ import annotations

import re
import uuid
from datetime import datetime, timezone
from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, TypeVar
from urllib.parse import quote

import httpx

from ._errors import ConnectionError, RequestError
from ._version import __version__
from .types import PageMeta

DEFAULT_MAX_RETRIES = 2
DEFAULT_TIMEOUT_SECONDS = 30.0
FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 8.0
#: A call does not wait longer than this for `Retry-After`. It then raises the error, which has the time.
MAX_RETRY_AFTER_SECONDS = 60.0

#: Methods that have the same effect when they are repeated.
REPEATABLE_METHODS = frozenset(["GET", "PUT", "DELETE"])
REPEATABLE_STATUSES = frozenset([500, 502, 503, 504])
#: Codes with the status 429 after which a repeat would be another check or message.
LASTING_CODES = frozenset(["TOO_MANY_CHECKS", "TOO_MANY_SENDS"])

HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)

Row = TypeVar("Row")


class Unset:
    """The type of `UNSET`."""

    def __repr__(self) -> str:
        return "UNSET"


#: The value of a field that is left out, where `None` is a value of its own.
UNSET = Unset()


@dataclass(frozen=True)
class Page(Generic[Row]):
    """One page of a list."""

    rows: List[Row]
    meta: PageMeta


@dataclass(frozen=True)
class Call:
    """A request, independent of the client that sends it."""

    method: str
    path: str
    query: Mapping[str, Any]
    body: Optional[Mapping[str, Any]]
    idempotency_key: Optional[str]
    has_credential: bool
    is_paged: bool
    is_repeatable: bool

    def at(self, cursor: str) -> Call:
        """The same request for the rows after a cursor."""
        query = {**self.query, "cursor": cursor}
        return Call(**{**self.__dict__, "query": query})

    def arguments(
        self, base_url: str, credential: Optional[str], timeout_seconds: float, more: Mapping[str, str]
    ) -> Dict[str, Any]:
        """The arguments of httpx' `request`."""
        headers = {"User-Agent": f"sms-gateway-python/{__version__}", **more}
        if self.has_credential and credential is not None:
            headers["Authorization"] = f"Bearer {credential}"
        if self.idempotency_key is not None:
            headers["Idempotency-Key"] = self.idempotency_key
        return {
            "method": self.method,
            "url": base_url + self.path,
            "params": dict(self.query),
            "headers": headers,
            "timeout": timeout_seconds,
            **({} if self.body is None else {"json": self.body}),
        }


def header_text(name: str, value: Any) -> str:
    """A value for a header, without the white space around it. No error quotes it, because it may be a secret."""
    trimmed = value.strip().strip("\ufeff").strip() if isinstance(value, str) else ""
    if not trimmed or not trimmed.isascii() or not trimmed.isprintable():
        raise ValueError(f"{name} must be printable ASCII, and not blank")
    return trimmed


def headers_of(headers: Mapping[str, str]) -> Dict[str, str]:
    if not all(isinstance(name, str) and HEADER_NAME.fullmatch(name) for name in headers):
        raise ValueError("the name of a header is not valid")
    return {name: header_text(f"the header {name}", value) for name, value in headers.items()}


def address_of(base_url: str) -> str:
    """The address of the gateway, without the version, with which the paths of operations begin."""
    address = str(base_url).strip()
    try:
        url = httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("base_url must be an http or https address")
    if url.userinfo:
        raise ValueError("base_url must not have a user name or a password")
    return re.sub(r"/*(/v1/*)?$", "", address)


def call(
    method: str,
    path: str,
    *,
    params: Mapping[str, str] = {},
    query: Mapping[str, Any] = {},
    body: Optional[Mapping[str, Any]] = None,
    idempotency_key: Optional[str] = None,
    is_idempotent: bool = False,
    has_credential: bool = True,
    is_paged: bool = False,
) -> Call:
    if idempotency_key is not None:
        idempotency_key = header_text("idempotency_key", idempotency_key)
    elif is_idempotent:
        idempotency_key = str(uuid.uuid4())
    for name, value in params.items():
        if not value:
            raise ValueError(f"the parameter {name} is empty")
    filled = path.format(**{name: quote(value, safe="") for name, value in params.items()})
    is_repeatable = is_idempotent or method in REPEATABLE_METHODS
    return Call(
        method, filled, query_of(query), body, idempotency_key, has_credential, is_paged, is_repeatable
    )


def given(fields: Mapping[str, Any], nullable: Mapping[str, Any] = {}) -> Dict[str, Any]:
    """The fields that the caller gave."""
    chosen = {name: value for name, value in fields.items() if value is not None}
    for name in ("to", "from"):
        if isinstance(chosen.get(name), str):
            # The API does not accept the plus sign of a message's number.
            chosen[name] = chosen[name].removeprefix("+")
    if isinstance(chosen.get("messages"), list):
        chosen["messages"] = [given(message) for message in chosen["messages"]]
    chosen.update({name: value for name, value in nullable.items() if value is not UNSET})
    return {name: utc(value) if isinstance(value, datetime) else value for name, value in chosen.items()}


def utc(time: datetime) -> str:
    """A time without a zone is local."""
    return time.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def query_of(query: Mapping[str, Any]) -> Dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in given(query).items()
    }


def result_of(response: httpx.Response, is_paged: bool) -> Any:
    """The `data` of a response, or a page. Raises RequestError if it is not a success."""
    try:
        body = response.json()
    except ValueError as error:
        if response.is_success:
            raise ConnectionError("the gateway sent no valid response") from error
        body = None
    if not response.is_success:
        raise RequestError(response.status_code, body, retry_after_of(response))
    return Page(rows=body["data"], meta=body["meta"]) if is_paged else body["data"]


def retry_after_of(response: httpx.Response) -> Optional[float]:
    try:
        return float(response.headers["Retry-After"])
    except (KeyError, ValueError):
        return None


def delay_before(error: Exception, retries: int, sent: Call, rand: Callable[[], float]) -> Optional[float]:
    """How long to wait before the next attempt, in seconds; None if the request must not be repeated."""
    # Half of each delay is random, so that clients that failed together do not return together.
    backoff = float(min(FIRST_DELAY_SECONDS * 2**retries, MAX_DELAY_SECONDS) * (0.5 + rand() / 2))
    if isinstance(error, ConnectionError):
        return backoff if sent.is_repeatable else None
    if not isinstance(error, RequestError) or error.code in LASTING_CODES:
        return None
    # The first attempt is still running, for example after a time-out.
    is_in_progress = error.code == "IDEMPOTENCY_IN_PROGRESS"
    passes = error.status in REPEATABLE_STATUSES or is_in_progress
    if error.status != 429 and not (sent.is_repeatable and passes):
        return None
    retry_after = error.retry_after_seconds or 0.0
    return None if retry_after > MAX_RETRY_AFTER_SECONDS else max(backoff, retry_after)
