"""Where webhooks may go, and where not."""

from collections.abc import Sequence

import httpx
import pytest

from rafs.errors import InputError
from service.job_settings import JobSettings
from service.jobs.addresses import AddressGuard, PinnedTransport, RefusedAddressError, is_public


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "2606:4700::1111",
        pytest.param("::ffff:8.8.8.8", id="public, mapped into IPv6"),
        pytest.param("64:ff9b::808:808", id="public, through NAT64"),
    ],
)
def test_a_host_of_the_internet_may_be_reached(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1", id="loopback"),
        pytest.param("127.255.255.254", id="end of loopback"),
        pytest.param("0.0.0.0", id="unspecified"),
        pytest.param("10.1.2.3", id="private 10"),
        pytest.param("172.16.0.1", id="private 172"),
        pytest.param("192.168.1.1", id="private 192"),
        pytest.param("100.64.0.1", id="carrier"),
        pytest.param("169.254.169.254", id="metadata of a cloud"),
        pytest.param("192.0.0.8", id="protocol assignments"),
        pytest.param("192.0.2.1", id="documentation"),
        pytest.param("192.88.99.1", id="relay of 6to4"),
        pytest.param("198.18.0.1", id="benchmarks"),
        pytest.param("224.0.0.1", id="multicast"),
        pytest.param("240.0.0.1", id="reserved"),
        pytest.param("255.255.255.255", id="broadcast"),
        pytest.param("::1", id="loopback of IPv6"),
        pytest.param("::", id="unspecified of IPv6"),
        pytest.param("::ffff:127.0.0.1", id="loopback, mapped"),
        pytest.param("::ffff:169.254.169.254", id="metadata, mapped"),
        pytest.param("::7f00:1", id="loopback, compatible"),
        pytest.param("64:ff9b::7f00:1", id="loopback through NAT64"),
        pytest.param("64:ff9b::a9fe:a9fe", id="metadata through NAT64"),
        pytest.param("64:ff9b:1::1", id="local NAT64"),
        pytest.param("2002:7f00:1::", id="6to4"),
        pytest.param("2001::1", id="Teredo"),
        pytest.param("2001:db8::1", id="documentation of IPv6"),
        pytest.param("3fff::1", id="more documentation"),
        pytest.param("fe80::1", id="link"),
        pytest.param("fe80::1%eth0", id="link with its interface"),
        pytest.param("2606:4700::1111%eth0", id="public with an interface"),
        pytest.param("fec0::1", id="site"),
        pytest.param("fc00::1", id="unique local"),
        pytest.param("ff02::1", id="multicast of IPv6"),
        pytest.param("5f00::1", id="segment routing"),
        pytest.param("100::1", id="discard"),
        pytest.param("example.com", id="no address"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_internal_or_special_may_not(address: str) -> None:
    assert not is_public(address)


def guard(*addresses: str, **settings: object) -> AddressGuard:
    """Return a guard that finds these addresses for every name."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        if not addresses:
            raise OSError("no such host")
        return addresses

    return AddressGuard(JobSettings.model_validate(settings), resolve)


@pytest.mark.parametrize("url", ["https://example.com/hook?a=b", "https://example.com:443/", "https://8.8.8.8/"])
def test_an_address_of_the_internet_is_taken(url: str) -> None:
    guard().check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("http://example.com/", id="unencrypted"),
        pytest.param("ftp://example.com/", id="other scheme"),
        pytest.param("file:///etc/passwd", id="file"),
        pytest.param("//example.com/", id="no scheme"),
        pytest.param("example.com", id="a host alone"),
        pytest.param("https://", id="no host"),
        pytest.param("https:///path", id="a path alone"),
        pytest.param("https://user:pass@example.com/", id="user and password"),
        pytest.param("https://user@example.com/", id="user"),
        pytest.param("https://example.com:22/", id="other port"),
        pytest.param("https://example.com:99999/", id="no port"),
        pytest.param("https://localhost/", id="localhost"),
        pytest.param("https://a.localhost/", id="below localhost"),
        pytest.param("https://127.0.0.1/", id="loopback"),
        pytest.param("https://[::1]/", id="loopback of IPv6"),
        pytest.param("https://[::ffff:10.0.0.1]/", id="private, mapped"),
        pytest.param("https://exa mple.com/", id="a space"),
        pytest.param("https://0177.0.0.1/", id="octal"),
        pytest.param("https://example.com/\n", id="a line break"),
        pytest.param("", id="nothing"),
    ],
)
def test_any_other_address_is_refused_before_its_host_is_asked_for(url: str) -> None:
    with pytest.raises(InputError) as refused:
        guard().check_url(url)
    assert refused.value.field == "webhook.url"


def test_the_operator_may_allow_more() -> None:
    lenient = guard(webhook_allow_http=True, webhook_ports="80,8080", webhook_hosts="hooks.internal,127.0.0.1")
    for url in ("http://hooks.internal/", "http://127.0.0.1:8080/"):
        lenient.check_url(url)


class Recorded(httpx.AsyncBaseTransport):
    """Answers 204 and keeps what it was sent; refuses connections to the first `n_dead` addresses."""

    def __init__(self, n_dead: int = 0) -> None:
        self.n_dead = n_dead
        self.seen: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if len(self.seen) <= self.n_dead:
            raise httpx.ConnectError("nobody there")
        return httpx.Response(204)


async def send(checked: AddressGuard, inner: Recorded, url: str = "https://example.com/hook") -> int:
    async with httpx.AsyncClient(transport=PinnedTransport(checked, inner)) as client:
        return (await client.post(url, content=b"x")).status_code


async def test_the_connection_is_made_to_the_address_that_was_checked() -> None:
    inner = Recorded()
    await send(guard("8.8.8.8"), inner)
    (request,) = inner.seen
    assert (request.url.host, request.headers["host"]) == ("8.8.8.8", "example.com")
    assert request.extensions["sni_hostname"] == "example.com"


async def test_a_name_in_other_letters_is_asked_for_as_dns_knows_it() -> None:
    inner = Recorded()
    await send(guard("2606:4700::1111"), inner, "https://bücher.example/hook")
    (request,) = inner.seen
    assert (request.url.host, request.extensions["sni_hostname"]) == ("2606:4700::1111", "xn--bcher-kva.example")


async def test_another_address_of_the_host_is_tried_where_one_does_not_answer() -> None:
    inner = Recorded(n_dead=1)
    assert await send(guard("8.8.8.8", "8.8.4.4"), inner) == 204


@pytest.mark.parametrize(
    "addresses",
    [("10.0.0.1",), ("8.8.8.8", "127.0.0.1"), ("::1",)],
    ids=["internal", "internal beside public", "loopback of IPv6"],
)
async def test_a_name_that_leads_inside_is_not_connected_to(addresses: tuple[str, ...]) -> None:
    inner = Recorded()
    with pytest.raises(RefusedAddressError):
        await send(guard(*addresses), inner)
    assert inner.seen == []


async def test_a_host_that_the_operator_allows_may_lead_inside() -> None:
    assert await send(guard("10.0.0.1", webhook_hosts="example.com"), Recorded()) == 204


async def test_a_host_without_an_address_is_no_connection() -> None:
    with pytest.raises(httpx.ConnectError):
        await send(guard(), Recorded())


@pytest.mark.parametrize("written", ["2130706433", "0x7f000001", "127.1"])
async def test_an_address_written_in_another_way_is_still_found_out(written: str) -> None:
    with pytest.raises((RefusedAddressError, httpx.ConnectError)):
        await send(AddressGuard(JobSettings()), Recorded(), f"https://{written}/")
