"""The guard in front of every connection: nothing of clinqa opens a socket anywhere else.

    guard = EgressGuard(DataClass.RESTRICTED, load_attestations(path), log_path)
    guard.route("https://host/v1")                 # PrivacyError, exit 4, unless it may
    async with guard.session(parallel=32) as session:
        answer = await session.post(url, body, headers, model=..., items=[...], timeout=60)

A name is looked up only where text may go to it, once in a guard's life, and every connection goes
to an address found then, so a name that later resolves elsewhere changes nothing. Text of class
restricted or phi goes to loopback only, unless an attestation names the host and still holds. Three
gates judge alike: `route` before anything is opened, the resolver that knows pinned names only, and
the socket factory, which sees the very address that is about to be connected to. No redirect is
followed; no proxy variable, cookie or .netrc is read; certificates are verified; a line in
egress.jsonl precedes each request.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult

from clinqa.core.errors import ConfigError, ModelError, PrivacyError
from clinqa.core.records import DataClass, is_private
from clinqa.privacy.addresses import (
    Endpoint,
    host_and_port,
    is_local_name,
    is_loopback,
    literal,
    parse_url,
)
from clinqa.privacy.attestation import Attestation
from clinqa.privacy.egress_log import EgressLog

__all__ = ["Answer", "EgressGuard", "Lost", "Route", "Session", "system_resolve"]

MAX_ANSWER = 8 * 1024 * 1024
TOO_LARGE = "the answer is larger than 8 MiB"
CONNECT_SECONDS = 10.0
WAYS_OUT = "run the model on this machine, or have its owner attest the host (--attestations)"

Resolve = Callable[[str, int], Sequence[str]]


class Lost(Exception):
    """A request without an answer: `kind` is network, timeout or bad_output; it may be retried.

    `why` says more, in words of our own; `reached` is False where no connection came about.
    """

    def __init__(self, kind: str, why: str = "", *, reached: bool = True) -> None:
        super().__init__(kind)
        self.kind, self.why, self.reached = kind, why, reached


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said: not judged yet, at most MAX_ANSWER bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Route:
    """Where one endpoint's bytes go: its addresses as resolved once, and how long they may."""

    endpoint: Endpoint
    addresses: tuple[str, ...]
    attestation: Attestation | None
    current: int = 0

    @property
    def address(self) -> str:
        """The one address that is used now."""
        return self.addresses[self.current]

    @property
    def loopback(self) -> bool:
        """Does nothing sent here leave the machine?"""
        return all(map(is_loopback, self.addresses))


def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses the system knows for a name, IPv4 first; OSError if it knows none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ordered = sorted(found, key=lambda info: info[0] != socket.AF_INET)
    return list(dict.fromkeys(str(info[4][0]) for info in ordered))


@dataclass(eq=False)
class EgressGuard:
    """Decides where text of one class may go, pins it there, and writes down each request."""

    data_class: DataClass
    attestations: Sequence[Attestation] = ()
    log_path: Path | None = None
    resolve: Resolve = system_resolve
    now: Callable[[], float] = time.time
    _pins: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _routes: dict[tuple[str, int], Route] = field(default_factory=dict, repr=False)
    _log: EgressLog | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        self._log = EgressLog(self.log_path) if self.log_path else None

    def route(self, url: str, *, where: str = "--base-url", carries_key: bool = False) -> Route:
        """Where this URL's bytes go, if they may go there at all.

        PrivacyError (exit 4) when they may not; ConfigError for an address that names no place;
        ModelError when an allowed host cannot be found. `carries_key`: a key goes along.
        """
        endpoint = parse_url(url, where)
        place = (endpoint.host, endpoint.port)
        known = self._routes.get(place)
        route = known if known and known.endpoint == endpoint else self._find(endpoint)
        self._judge(route, carries_key, where)
        self._routes[place] = route
        return route

    def connector(self, parallel: int = 32) -> aiohttp.TCPConnector:
        """A connector that reaches judged addresses and nothing else."""
        return aiohttp.TCPConnector(
            limit=parallel,
            resolver=_Pinned(self),
            use_dns_cache=False,
            happy_eyeballs_delay=None,
            keepalive_timeout=30.0,
            ssl=ssl.create_default_context(),
            socket_factory=self._open_socket,
        )

    def session(self, parallel: int = 32) -> Session:
        """A session over such a connector; enter it inside a running event loop."""
        return Session(self, parallel)

    def check_still(self, route: Route) -> None:
        """An attestation may end while a run goes on."""
        if route.attestation is not None:
            self._check_held(route.endpoint, route.attestation)

    def _check_held(self, endpoint: Endpoint, held: Attestation) -> None:
        if self.now() >= held.expires:
            raise PrivacyError(
                f"{endpoint.host}: its attestation ended on {held.until}; {WAYS_OUT}"
            )

    def note(self, route: Route, model: str, items: Sequence[str], size: int) -> None:
        """Write down one request, before it leaves."""
        if self._log is not None:
            place = f"{route.endpoint.host}:{route.endpoint.port}"
            self._log.add(self.now(), place, route.address, model, items, size)

    def close(self) -> None:
        """Let go of the log."""
        if self._log is not None:
            self._log.close()

    def _find(self, endpoint: Endpoint) -> Route:
        held = self._attestation(endpoint)
        if literal(endpoint.host) is not None:
            return Route(endpoint, (endpoint.host,), held)
        if endpoint.host in self._pins:
            return Route(endpoint, self._pins[endpoint.host], held)
        if is_private(self.data_class) and not is_local_name(endpoint.host):
            self._judge_name(endpoint, held)
        try:
            addresses = tuple(self.resolve(endpoint.host, endpoint.port))
        except (OSError, UnicodeError):
            addresses = ()
        if not addresses and is_local_name(endpoint.host):
            addresses = ("127.0.0.1",)
        if not addresses:
            raise ModelError(f"{endpoint.host}: no such host can be found; is the name right?")
        self._pins[endpoint.host] = addresses
        return Route(endpoint, addresses, held)

    def _judge_name(self, endpoint: Endpoint, held: Attestation | None) -> None:
        """Refuse a name nobody attests before it is looked up: a look-up leaves the machine."""
        if held is None:
            raise PrivacyError(
                f"{endpoint.host}: not known to be this machine, and {self.data_class} text does "
                f"not leave it. For this machine write localhost or 127.0.0.1; else {WAYS_OUT}"
            )
        self._check_held(endpoint, held)

    def _attestation(self, endpoint: Endpoint) -> Attestation | None:
        """The one that holds longest of those that cover this host."""
        covering = [a for a in self.attestations if a.covers(endpoint.host, endpoint.port)]
        return max(covering, key=lambda a: a.until, default=None)

    def _judge(self, route: Route, carries_key: bool, where: str) -> None:
        host = route.endpoint.host
        local = [is_loopback(address) for address in route.addresses]
        if all(local):
            route.attestation = None
            return
        trusted_wire = route.attestation is not None and route.attestation.plain_http
        if is_private(self.data_class):
            if any(local):
                raise PrivacyError(
                    f"{host}: resolves both to this machine and away from it; "
                    f"{self.data_class} text is not sent. Name an address"
                )
            if route.attestation is None:
                raise PrivacyError(
                    f"{host}: is not this machine, and {self.data_class} text does not leave it; "
                    f"{WAYS_OUT}"
                )
            self.check_still(route)
            if route.endpoint.scheme == "http" and not trusted_wire:
                raise PrivacyError(
                    f"{host}: {self.data_class} text would cross the network unencrypted; "
                    "use https://, or attest plain_http: true"
                )
        else:
            route.attestation = None
        if carries_key and route.endpoint.scheme == "http" and not trusted_wire:
            raise ConfigError(
                f"{where}: a key would cross the network unencrypted to {host}; use https://, "
                "or attest plain_http: true for that host"
            )
        if self.log_path is None:
            raise ConfigError(f"{host}: sending text away needs an egress log (egress_log)")

    def _open_socket(self, info: tuple[object, ...]) -> socket.socket:
        """The last gate: `info` holds the address that is connected to next."""
        family, kind, protocol, _, target = info
        address, port = host_and_port(target)  # a path is never judged, so never opened
        for route in self._routes.values():
            if route.endpoint.port == port and address in route.addresses:
                self.check_still(route)
                return socket.socket(family, kind, protocol)  # type: ignore[arg-type]
        raise PrivacyError("a connection to an address nobody judged was refused")


class Session:
    """Sends requests along judged routes. It offers no redirects, proxies, cookies or streams."""

    def __init__(self, guard: EgressGuard, parallel: int) -> None:
        self._guard, self._parallel = guard, parallel
        self._client: aiohttp.ClientSession | None = None
        self._targets: dict[str, tuple[Route, yarl.URL]] = {}

    async def __aenter__(self) -> Session:
        self._client = aiohttp.ClientSession(
            connector=self._guard.connector(self._parallel),
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers={"User-Agent": "clinqa", "Accept-Encoding": "identity"},
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        model: str,
        items: Sequence[str],
        timeout: float,
    ) -> Answer:
        """The answer of a server to one request; Lost when none came.

        `url` is sent as it is written: a signature covers its percent signs.
        """
        if url not in self._targets:
            judged = self._guard.route(url)
            self._targets[url] = judged, _target(judged, url)
        route, target = self._targets[url]
        for _ in route.addresses:
            used = route.address
            try:
                return await self._post(route, target, body, headers, model, items, timeout)
            except _NotReached:  # not a byte was sent: the next address found with this one
                if route.address == used:
                    route.current = (route.current + 1) % len(route.addresses)
        raise Lost("network", reached=False)

    async def _post(
        self,
        route: Route,
        target: yarl.URL,
        body: bytes,
        headers: Mapping[str, str],
        model: str,
        items: Sequence[str],
        timeout: float,
    ) -> Answer:
        if self._client is None:
            raise RuntimeError("enter the session first")
        self._guard.check_still(route)
        self._guard.note(route, model, items, len(body))
        limits = aiohttp.ClientTimeout(
            total=timeout, sock_connect=min(CONNECT_SECONDS, timeout), sock_read=timeout
        )
        # Their exceptions hold headers, and so keys: none is chained, none is quoted.
        try:
            async with self._client.post(
                target, data=body, headers=headers, timeout=limits, allow_redirects=False
            ) as response:
                if 300 <= response.status < 400:
                    raise self._redirected(route)
                return Answer(response.status, response.headers, await _read(response))
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError):
            raise ModelError(
                f"{route.endpoint.host}: no trusted TLS connection (certificate or protocol). For "
                "an authority of your own, name its file in the environment variable SSL_CERT_FILE"
            ) from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise _NotReached from None
        except TimeoutError:
            raise Lost("timeout") from None
        except aiohttp.ClientResponseError:
            raise Lost("bad_output", "the answer is not HTTP") from None
        except (aiohttp.ClientError, OSError):
            raise Lost("network") from None

    def _redirected(self, route: Route) -> PrivacyError | ModelError:
        said = f"{route.endpoint.host}: answers with a redirect, and clinqa follows none; "
        if is_private(self._guard.data_class):
            return PrivacyError(f"{said}{self._guard.data_class} text is sent nowhere else")
        return ModelError(f"{said}give the final address")


class _NotReached(Exception):
    """No connection to this address."""


class _Pinned(AbstractResolver):
    """Knows the names a guard has judged, each with the one address in use."""

    def __init__(self, guard: EgressGuard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        route = self._guard._routes.get((host, port))
        if route is None:
            raise PrivacyError(f"{host}: a connection nobody judged was refused")
        address = route.address
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
        ]

    async def close(self) -> None:
        return None


def _target(route: Route, url: str) -> yarl.URL:
    """The URL with its host in the judged form, so that no second parser can read another one."""
    rest = url.partition("://")[2]
    cut = min((at for at in map(rest.find, "/?") if at >= 0), default=len(rest))
    target = yarl.URL(f"{route.endpoint}{rest[cut:] or '/'}", encoded=True)
    if (target.host, target.port) != (route.endpoint.host, route.endpoint.port):
        raise PrivacyError("an address that can be read in two ways was refused")
    return target


async def _read(response: aiohttp.ClientResponse) -> bytes:
    if response.headers.get("Content-Encoding", "identity").casefold() != "identity":
        # not asked for, and a small one can unpack to a very large one
        raise Lost("bad_output", "the answer is compressed, and that was asked not to be")
    length = response.content_length
    if length is not None and length > MAX_ANSWER:
        raise Lost("bad_output", TOO_LARGE)
    body = bytearray()
    while part := await response.content.readany():
        body += part
        if len(body) > MAX_ANSWER:
            raise Lost("bad_output", TOO_LARGE)
    return bytes(body)
