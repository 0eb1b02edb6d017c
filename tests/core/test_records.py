"""Data classes: the strictest of the sources."""

from __future__ import annotations

from itertools import permutations

import pytest

from clinqa.core.records import DataClass, inherit, is_private


def test_what_is_derived_inherits_the_strictest_class() -> None:
    for order in permutations(DataClass):
        assert inherit(order) is DataClass.PHI
    assert inherit([DataClass.PUBLIC, DataClass.LICENSED]) is DataClass.LICENSED
    assert inherit([DataClass.RESTRICTED, DataClass.LICENSED]) is DataClass.RESTRICTED


def test_nothing_has_no_class() -> None:
    with pytest.raises(ValueError, match="at least one source"):
        inherit([])


def test_restricted_and_phi_are_private() -> None:
    assert [is_private(each) for each in DataClass] == [False, False, True, True]
