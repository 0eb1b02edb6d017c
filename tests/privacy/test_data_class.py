"""Data classes: the strictest of the sources, and what the owner says."""

from __future__ import annotations

from itertools import permutations

import pytest

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass
from clinqa.privacy import data_class_of, inherit, is_private


def test_what_is_derived_inherits_the_strictest_class() -> None:
    for order in permutations(DataClass):
        assert inherit(order) is DataClass.PHI
    assert inherit([DataClass.PUBLIC, DataClass.LICENSED]) is DataClass.LICENSED
    assert inherit([DataClass.RESTRICTED, DataClass.LICENSED]) is DataClass.RESTRICTED


def test_nothing_has_no_class() -> None:
    with pytest.raises(ValueError, match="at least one source"):
        inherit([])


def test_reports_are_restricted_until_their_owner_says_otherwise() -> None:
    assert data_class_of("reports") is DataClass.RESTRICTED
    assert data_class_of("references") is DataClass.LICENSED
    assert data_class_of("banks") is DataClass.PUBLIC
    assert data_class_of("reports", " PHI ") is DataClass.PHI


def test_an_unknown_class_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="public, licensed, restricted, phi"):
        data_class_of("reports", "secret")


def test_restricted_and_phi_are_private() -> None:
    assert [is_private(each) for each in DataClass] == [False, False, True, True]
