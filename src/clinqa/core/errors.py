"""The error tree. Every error a user can meet is one of these.

ClinqaError
├── ConfigError     exit 2   a key, a value, a missing extra, an output folder
├── SourceError     exit 3   unreadable file, missing column, wrong format
├── PrivacyError    exit 4   text that may not leave the machine
├── ModelError      exit 5   a model or a service failed
└── CheckFailed     exit 1   what verify or audit found

A message says what, where and what to do. It never holds text of a record.
"""

from __future__ import annotations

__all__ = [
    "CheckFailed",
    "ClinqaError",
    "ConfigError",
    "MissingExtra",
    "ModelError",
    "PrivacyError",
    "SourceError",
    "refuse",
]


class ClinqaError(Exception):
    """Base of all errors that end a verb; `exit_code` is what the process returns."""

    exit_code = 1


class ConfigError(ClinqaError):
    """Wrong usage, configuration or output folder."""

    exit_code = 2


def refuse(*faults: tuple[object, str]) -> None:
    """Raise ConfigError with what is said of the first fault that is there.

    >>> refuse((1 > 2, "never"), (0, "nor this"))
    """
    for there, said in faults:
        if there:
            raise ConfigError(said)


class MissingExtra(ConfigError):
    """An optional dependency is not installed; the message names the pip line."""

    def __init__(self, extra: str, needs: str) -> None:
        super().__init__(f"{needs} is needed here: pip install 'clinqa[{extra}]'")
        self._said = (extra, needs)

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        """So that it can come from another process."""
        return MissingExtra, self._said


class SourceError(ClinqaError):
    """An input that cannot be read, or lacks what is needed (file:page:item)."""

    exit_code = 3


class PrivacyError(ClinqaError):
    """Refused, because restricted text would leave the machine or be shown."""

    exit_code = 4


class ModelError(ClinqaError):
    """A model or a service failed."""

    exit_code = 5


class CheckFailed(ClinqaError):
    """A check found something wrong; the message names what broke."""

    exit_code = 1
