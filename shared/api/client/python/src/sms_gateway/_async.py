from __future__ import annotations

import asyncio
import copy
import random as randomness
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Generic, Mapping, Optional, Type, TypeVar

import httpx

from ._calls import (
    DEFAULT_MAX_RETRIES,
    DEFAULT_TIMEOUT_SECONDS,
    Call,
    Page,
    address_of,
    delay_before,
    header_text,
    headers_of,
    result_of,
)
from ._errors import ConnectionError, RequestError

Row = TypeVar("Row")
Self = TypeVar("Self", bound="AsyncCaller")


class AsyncCaller:
    """Sends requests with httpx, and repeats them after failures that pass.

    `credential` is the secret of an API key, or a session token. `timeout_seconds` limits the connection and
    each wait for data. `http_client` replaces the client of httpx, for example for a proxy. A value that no request
    can have is a ValueError, which does not quote it.
    """

    def __init__(
        self,
        base_url: str,
        credential: Optional[str] = None,
        *,
        max_retries: int = DEFAULT_MAX_RETRIES,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        http_client: Optional[httpx.AsyncClient] = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = randomness.random,
    ) -> None:
        self._base_url = address_of(base_url)
        self._headers: Mapping[str, str] = {}
        self._credential = None if credential is None else header_text("credential", credential)
        self._max_retries = max_retries
        self._timeout_seconds = timeout_seconds
        self._http = http_client if http_client is not None else httpx.AsyncClient()
        self._sleep = sleep
        self._random = random

    def with_options(
        self: Self,
        *,
        max_retries: Optional[int] = None,
        timeout_seconds: Optional[float] = None,
        headers: Mapping[str, str] = {},
    ) -> Self:
        """Returns the client with other options, for example for one call. Both have the same connections."""
        other = copy.copy(self)
        other._max_retries = self._max_retries if max_retries is None else max_retries
        other._timeout_seconds = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        other._headers = {**self._headers, **headers_of(headers)}
        return other

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def _send(self, sent: Call) -> Any:
        retries = 0
        while True:
            try:
                return await self._attempt(sent)
            except (ConnectionError, RequestError) as error:
                delay = delay_before(error, retries, sent, self._random)
                if retries >= self._max_retries or delay is None:
                    raise
            await self._sleep(delay)
            retries += 1

    async def _attempt(self, sent: Call) -> Any:
        arguments = sent.arguments(self._base_url, self._credential, self._timeout_seconds, self._headers)
        try:
            response = await self._http.request(**arguments)
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol):
            # httpx rejected it before it sent it. Its text quotes headers, which may be secrets.
            raise ValueError("httpx cannot send the request: check the headers of http_client") from None
        except httpx.RequestError as error:
            raise ConnectionError(f"no valid response from the gateway: {error or type(error).__name__}") from error
        return result_of(response, sent.is_paged)


class AsyncRows(Generic[Row]):
    """All rows of a list, read page by page while they are iterated over."""

    def __init__(self, caller: AsyncCaller, sent: Call) -> None:
        self._caller = caller
        self._sent = sent

    async def page(self) -> Page[Row]:
        """Reads one page: the first, or the one that the arguments name."""
        page: Page[Row] = await self._caller._send(self._sent)
        return page

    async def __aiter__(self) -> AsyncIterator[Row]:
        page = await self.page()
        for row in page.rows:
            yield row
        cursor = page.meta.get("nextCursor")
        while cursor is not None:
            following: Page[Row] = await self._caller._send(self._sent.at(cursor))
            for row in following.rows:
                yield row
            cursor = following.meta.get("nextCursor")
