"""Attestations: an owner's written word that text may go to one host, for one purpose, until a day.

A file, YAML or JSON, holds a list of them (bare, or under `attestations:`):

    - host: models.hospital.example        # exactly this host; a port may follow
      who: A. Steward, data protection
      purpose: evaluation of echo answers
      retention: none kept
      until: 2027-01-31                    # the last day it holds, in UTC
      plain_http: false                    # true only for a server on a trusted wire

clinqa keeps no list of approved services: without such a line, restricted text stays here. The
word has to be the user's own: a file that others may write, or that is somebody else's, or a link,
is refused.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from clinqa.core.errors import ConfigError, PrivacyError
from clinqa.core.yamlfile import parse_yaml
from clinqa.privacy.addresses import canonical_host

__all__ = ["Attestation", "load_attestations"]

MAX_BYTES = 1_000_000

_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


@dataclass(frozen=True, slots=True)
class Attestation:
    """Text may go to `host`, said `who`, for `purpose`, kept for `retention`, up to `until`."""

    host: str
    who: str
    purpose: str
    retention: str
    until: date
    port: int | None = None
    plain_http: bool = False

    @property
    def expires(self) -> float:
        """The first moment it no longer holds, as seconds since the epoch."""
        if self.until == date.max:  # written for "no end", and no day comes after it
            return math.inf
        next_day = datetime.combine(self.until + timedelta(days=1), datetime.min.time(), UTC)
        return next_day.timestamp()

    def covers(self, host: str, port: int) -> bool:
        """Is this the host (and the port, if one was named)?"""
        return self.host == host and self.port in (None, port)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    host: _Words
    who: _Words
    purpose: _Words
    retention: _Words
    until: date
    plain_http: bool = Field(default=False, strict=True)


def load_attestations(path: Path | None) -> tuple[Attestation, ...]:
    """The attestations of a file; none without one. A mistake in it is an error, never a skip.

    PrivacyError for a file that somebody else could have written.
    """
    if path is None:
        return ()
    return tuple(_checked(path, number, entry) for number, entry in enumerate(_entries(path), 1))


def _entries(path: Path) -> Sequence[Any]:
    data, _ = parse_yaml(path, _bytes_of(path), mapping=False)
    if isinstance(data, dict) and set(data) == {"attestations"}:
        data = data["attestations"]
    if not isinstance(data, list):
        raise ConfigError(
            f"{path}: attestations are a list of host, who, purpose, retention, until"
        )
    return data


def _bytes_of(path: Path) -> bytes:
    """What the file holds; the very file that was judged is read."""
    if path.is_symlink():
        raise PrivacyError(f"{path}: a link; name the attestation file itself")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        opened = os.open(path, flags)
        try:
            _judge(path, os.fstat(opened))
        except BaseException:
            os.close(opened)
            raise
        with os.fdopen(opened, "rb") as file:
            return file.read().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error


def _judge(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):  # a pipe would wait for ever
        raise ConfigError(f"{path}: not a file")
    if found.st_size > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES:,} bytes, which no such file needs")
    if not hasattr(os, "geteuid"):  # not on Windows, whose rights are of another kind
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise PrivacyError(
            f"{path}: belongs to another user (uid {found.st_uid}), who could attest anything; "
            "name a file of your own or of root's"
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PrivacyError(
            f"{path}: others than its owner may write it, and so could attest anything; "
            "chmod go-w it"
        )


def _checked(path: Path, number: int, entry: object) -> Attestation:
    where = f"{path}: attestation {number}"
    try:
        read = _Entry.model_validate(entry)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}"
            for fault in error.errors()
        )
        raise ConfigError(f"{where}: {faults}") from None
    host, port = canonical_host(read.host, where)
    return Attestation(
        host, read.who, read.purpose, read.retention, read.until, port, read.plain_http
    )
