"""Addresses: what a URL or a host names, and whether an IP address is this very machine."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from clinqa.core.errors import ConfigError

__all__ = [
    "Endpoint",
    "canonical_host",
    "host_and_port",
    "is_local_name",
    "is_loopback",
    "literal",
    "parse_url",
    "refuse_secrets",
]

_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
# 127.1, 2130706433, 0x7f000001: some resolvers take them for addresses, so they are no names
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+))*")
_SECRET = re.compile(r"pass(word|wd)?$|^pwd$|secret|token|key$|^sig(nature)?$|credential", re.I)
_PORTS = {"http": 80, "https": 443}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The part of a URL that decides where bytes go."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        standard = self.port == _PORTS[self.scheme]
        return f"{self.scheme}://{host}" if standard else f"{self.scheme}://{host}:{self.port}"


def literal(host: str) -> Address | None:
    """The IP address a host is written as, or None for a name.

    >>> literal("::1"), literal("localhost")
    (IPv6Address('::1'), None)
    """
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_loopback(address: str) -> bool:
    """Does this address never leave the machine? IPv4 inside IPv6 is judged as the IPv4 it is.

    >>> [is_loopback(a) for a in ("127.8.9.1", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8")]
    [True, True, True, False]
    """
    found = literal(address)
    if found is None:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found.scope_id is not None:
            return False
        if found.ipv4_mapped is not None:
            return found.ipv4_mapped.is_loopback
    return found.is_loopback


def is_local_name(host: str) -> bool:
    """Is this a name that means the machine itself, whatever a resolver says (RFC 6761)?"""
    return host == "localhost" or host.endswith(".localhost")


def canonical_host(text: str, where: str) -> tuple[str, int | None]:
    """Host and port of `host`, `host:port` or `[IPv6]:port`, in the one form they are compared in.

    >>> canonical_host("Models.Example.:8443", "--base-url")
    ('models.example', 8443)
    """
    bare = text.strip().strip("[]")
    address = literal(bare)
    if address is not None:
        return address.compressed, None
    try:
        parts = urlsplit(f"//{text.strip()}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ConfigError(f"{where}: not a host, or host:port") from None
    if parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        raise ConfigError(f"{where}: a host, or host:port, and nothing else")
    return _canonical_name(host, where), _real(port, where)


def parse_url(url: str, where: str = "--base-url") -> Endpoint:
    """Where a URL leads. One that carries a password or key is refused: it would be written down.

    >>> str(parse_url("http://LocalHost:8000/v1"))
    'http://localhost:8000'
    """
    if any(ord(char) <= 32 or ord(char) == 127 or char == "\\" for char in url):
        raise ConfigError(
            f"{where}: spaces, control characters and backslashes have no place there"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ConfigError(f"{where}: not an address like https://host/path") from None
    refuse_secrets(url, where)
    scheme = parts.scheme.casefold()
    if scheme not in _PORTS or not parts.hostname:
        raise ConfigError(f"{where}: must start with https:// or http:// and name a host")
    if parts.fragment:
        raise ConfigError(f"{where}: an address for a server has no #fragment")
    address = literal(parts.hostname)
    host = address.compressed if address else _canonical_name(parts.hostname, where)
    return Endpoint(scheme, host, _real(port, where) or _PORTS[scheme])


def refuse_secrets(address: str, where: str) -> None:
    """ConfigError if an address, or a DSN of any scheme, carries a password or a key.

    A user's name alone may stand in a DSN, but not before the host of http and https, where it is
    a key as often as a name.

    >>> refuse_secrets("postgresql://reader@db.example/echo", "--dsn")
    """
    try:
        parts = urlsplit(address)
        user, password = parts.username, parts.password
    except ValueError:
        raise ConfigError(f"{where}: not an address like https://host/path") from None
    if password is not None or (user is not None and parts.scheme.casefold() in _PORTS):
        raise ConfigError(
            f"{where}: a name or password in an address is refused; "
            "keys come from environment variables"
        )
    named = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if not parts.scheme:  # host=db user=me password=…
        named += re.findall(r"([A-Za-z_]+)\s*=", address)
    if any(map(_SECRET.search, named)):
        raise ConfigError(
            f"{where}: a key in an address is refused; keys come from environment variables"
        )


def _real(port: int | None, where: str) -> int | None:
    if port == 0:  # not "none given": the standard port was not meant
        raise ConfigError(f"{where}: port 0 is no port")
    return port


def _canonical_name(host: str, where: str) -> str:
    name = host.rstrip(".").casefold()
    address = literal(name)
    if address is not None:
        return address.compressed
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            raise ConfigError(f"{where}: that is no host name") from None
    if _NUMERIC.fullmatch(name):
        raise ConfigError(f"{where}: write an IPv4 address as four plain numbers")
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise ConfigError(f"{where}: that is no host name")
    return name


def host_and_port(target: object) -> tuple[str, int]:
    """The address and port of a socket's target; nothing for a path, such as a Unix socket."""
    if isinstance(target, tuple) and len(target) >= 2:
        return str(target[0]), int(target[1])
    return "", 0
