"""Where webhooks may go: a caller's address must not make the service talk to what only the service can reach.

A name is resolved once, every address it has is checked, and the connection is made to a checked address: between the
check and the connection nobody can point the name elsewhere. TLS still asks for the certificate of the name.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

import httpx

from rafs.errors import InputError
from service.job_settings import JobSettings
from service.visible import show_text

NAT64 = IPv6Network("64:ff9b::/96")
"""Its last 32 bits are the IPv4 address that is reached through it."""
UNICAST = IPv6Network("2000::/3")
"""All that was ever given out for hosts of the Internet."""
SPECIAL_6 = (IPv6Network("2001::/23"), IPv6Network("2002::/16"), IPv6Network("3fff::/20"))
"""Tunnels, which lead to an IPv4 address, and documentation."""
SPECIAL_4 = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
FIELD = "webhook.url"
HOST_SHAPE = re.compile(r"[a-z0-9_]([a-z0-9._-]{0,252})")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host, as texts; raises OSError where it has none."""


class RefusedAddressError(Exception):
    """The host is none that a webhook may reach."""


async def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host as the system finds them.

    Raises:
        OSError: It has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class AddressGuard:
    """Decides which addresses webhooks may have, by the operator's settings."""

    def __init__(self, settings: JobSettings, resolve: Resolve = resolve_by_system) -> None:
        self._schemes = ("https", "http") if settings.webhook_allow_http else ("https",)
        self._ports = frozenset(settings.webhook_ports)
        self._internal = frozenset(map(str.lower, settings.webhook_hosts))
        self._resolve = resolve

    def check_url(self, text: str) -> None:
        """Refuse what can be seen to be wrong without asking for the host's address.

        Raises:
            InputError: It is no such address.
        """
        try:
            url = httpx.URL(text)
            port = port_of(url)
        except (httpx.InvalidURL, ValueError, TypeError):
            raise _refuse("no address", "an absolute URL") from None
        if url.scheme not in self._schemes:
            raise _refuse(f"the scheme '{show_text(url.scheme)}'", " or ".join(self._schemes))
        if url.userinfo or not url.host:
            raise _refuse("an address with a user" if url.userinfo else "an address without a host", "a host alone")
        if port not in self._ports:
            raise _refuse(f"the port {port}", f"one of the ports {', '.join(map(str, sorted(self._ports)))}")
        host = host_of(url)
        if not (is_address(host) or HOST_SHAPE.fullmatch(host)):
            raise _refuse("a host that has no such name", "a name of DNS or an address")
        if host not in self._internal and (is_inside(host) or (is_address(host) and not is_public(host))):
            raise _refuse("a host that is internal", "a host of the Internet, or one that the operator allows")

    async def addresses_of(self, url: httpx.URL) -> Sequence[str]:
        """Return the addresses of an address's host, all of which may be reached.

        Raises:
            RefusedAddressError: One of them may not.
            OSError: It has none.
        """
        host = host_of(url)
        found = [host] if is_address(host) else await self._resolve(host, port_of(url))
        self.check_addresses(host, found)
        return found

    def check_addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Refuse a host that has an address which may not be reached.

        Raises:
            RefusedAddressError: It has one, or none at all.
        """
        if host in self._internal:
            return
        if not addresses or not all(map(is_public, addresses)):
            raise RefusedAddressError("the host is internal, or has an internal address")


class PinnedTransport(httpx.AsyncBaseTransport):
    """Sends requests to the addresses that a guard lets pass, and to nothing else."""

    def __init__(self, guard: AddressGuard, inner: httpx.AsyncBaseTransport) -> None:
        """Keep the parts.

        Args:
            guard: Finds and checks the addresses.
            inner: Connects to them.
        """
        self._guard = guard
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the header `host` and the name that TLS asks for stay those of the URL.

        Raises:
            RefusedAddressError: The host may not be reached.
            httpx.ConnectError: It has no address, or none that answers.
        """
        try:
            addresses = await self._guard.addresses_of(request.url)
        except OSError as error:
            raise httpx.ConnectError("the host has no address", request=request) from error
        *others, last = addresses
        for address in others:
            try:
                return await self._inner.handle_async_request(_pin(request, address))
            except httpx.ConnectError:
                continue
        return await self._inner.handle_async_request(_pin(request, last))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def is_public(text: str) -> bool:
    """Say whether an address is one host of the Internet: neither private, nor special, nor a way to one that is."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _is_public_4(address)
    if address.scope_id is not None:
        return False
    if address.ipv4_mapped is not None:
        return _is_public_4(address.ipv4_mapped)
    if address in NAT64:
        return _is_public_4(IPv4Address(address.packed[-4:]))
    return address in UNICAST and address.is_global and not any(address in network for network in SPECIAL_6)


def _is_public_4(address: IPv4Address) -> bool:
    is_special = address.is_multicast or address.is_reserved or any(address in network for network in SPECIAL_4)
    return address.is_global and not is_special


def is_inside(host: str) -> bool:
    """Say whether a name is that of this machine, whatever DNS says."""
    return host.rstrip(".").rpartition(".")[2] == "localhost"


def is_address(host: str) -> bool:
    """Say whether a host is written as an address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def host_of(url: httpx.URL) -> str:
    """Return the host of a URL as DNS and TLS know it."""
    return url.raw_host.decode("ascii").lower().strip("[]")


def port_of(url: httpx.URL) -> int:
    """Return the port of a URL."""
    return url.port or (443 if url.scheme == "https" else 80)


def _pin(request: httpx.Request, address: str) -> httpx.Request:
    url = request.url.copy_with(host=address)
    extensions = {**request.extensions, "sni_hostname": host_of(request.url)}
    return httpx.Request(request.method, url, headers=request.headers, stream=request.stream, extensions=extensions)


def _refuse(got: str, allowed: str) -> InputError:
    return InputError(f"field `{FIELD}`: got {got}, allowed: {allowed}", field=FIELD, got=got, allowed=allowed)
