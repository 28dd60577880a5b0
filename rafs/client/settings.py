"""Where a client finds the service, and how patient it is."""

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TypedDict

import httpx

from rafs import __version__
from rafs.errors import ConfigError
from rafs.visible import show_text

URL_VARIABLE = "RAFS_URL"
KEY_VARIABLE = "RAFS_API_KEY"
LOCAL = "http://127.0.0.1:8000"
"""Where `rafs serve` listens unless told otherwise."""


class ClientOptions(TypedDict, total=False):
    """What may be said of a client beside address and key; `ClientSettings` has each."""

    timeout_s: float
    connect_timeout_s: float
    attempts: int
    first_pause_s: float
    longest_pause_s: float
    max_connections: int
    max_reply_bytes: int


class HttpOptions(TypedDict):
    """What both clients of httpx are made with."""

    base_url: str
    headers: Mapping[str, str]
    timeout: httpx.Timeout
    limits: httpx.Limits
    verify: ssl.SSLContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """Settings of one client."""

    base_url: str
    """Up to and without `/v1`."""
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 120.0
    """Longest silence of the service; a request with `deadline_s` waits for that and `GRACE_S`."""
    connect_timeout_s: float = 5.0
    """A host that does not even accept is down or wrong; `timeout_s` is for models that compute."""
    attempts: int = 4
    """Of one request; 1 never repeats."""
    first_pause_s: float = 0.5
    """Before the second attempt; it doubles from there."""
    longest_pause_s: float = 20.0
    """A service that asks for a longer pause is not asked again."""
    max_connections: int = 64
    """Requests under way at once; the next ones wait for a place."""
    max_reply_bytes: int = 64 << 20
    """A response with the record of the longest trace and 32 samples is some megabytes."""

    def __post_init__(self) -> None:
        """Refuse what no client can work with.

        Raises:
            ConfigError: A number is out of range.
        """
        for name in ("timeout_s", "connect_timeout_s", "attempts", "max_connections", "max_reply_bytes"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} of the client is {getattr(self, name)!r}, must be above 0")
        for name in ("first_pause_s", "longest_pause_s"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} of the client is {getattr(self, name)!r}, must be at least 0")

    def http_options(self) -> HttpOptions:
        """Return the settings as httpx takes them."""
        # A packed reply has no size that could be bounded beforehand.
        headers = {"User-Agent": f"rafs/{__version__}", "Accept-Encoding": "identity"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        n = self.max_connections
        return HttpOptions(
            base_url=self.base_url,
            headers=headers,
            timeout=httpx.Timeout(self.timeout_s, connect=self.connect_timeout_s),
            limits=httpx.Limits(max_connections=n, max_keepalive_connections=n),
            verify=_trusted(),
        )


def read_settings(base_url: str | None, api_key: str | None, options: ClientOptions) -> ClientSettings:
    """Return the settings, with RAFS_URL and RAFS_API_KEY where address and key are not given.

    Raises:
        ConfigError: The address is no HTTP address, the key fits no header, or a number is out of range.
    """
    address = base_url or os.environ.get(URL_VARIABLE, "").strip() or LOCAL
    key = api_key or os.environ.get(KEY_VARIABLE, "").strip() or None
    if key is not None and not all("!" <= char <= "~" for char in key):  # httpx's own message would show it
        raise ConfigError(f"the API key (api_key or {KEY_VARIABLE}) holds characters that no key has")
    return ClientSettings(base_url=_checked(address), api_key=key, **options)


@contextmanager
def opening() -> Iterator[None]:
    """Explain why a client of httpx cannot be made.

    Raises:
        ConfigError: The environment names a proxy that cannot be used.
    """
    try:
        yield
    except (ImportError, ValueError) as error:
        raise ConfigError(f"the proxy of the environment (HTTP_PROXY, ALL_PROXY) cannot be used: {error}") from error


@cache
def _trusted() -> ssl.SSLContext:
    """Return whom to trust over TLS; reading all certificates takes ten times as long as the rest of a client."""
    return httpx.create_ssl_context()


def _checked(address: str) -> str:
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise ConfigError(f"base_url (or {URL_VARIABLE}): {show_text(address)!r} is no address: {error}") from error
    has_port = url.port is None or 0 < url.port < 1 << 16
    if url.scheme not in ("http", "https") or not url.host or not has_port or url.userinfo:
        allowed = "http://HOST:PORT or https://HOST, without user and password"
        raise ConfigError(f"base_url (or {URL_VARIABLE}): got {_without_user(url)!r}, allowed {allowed}")
    return address.rstrip("/").removesuffix("/v1")


def _without_user(url: httpx.URL) -> str:
    return show_text(str(url.copy_with(userinfo=b"")))
