"""Groups: quartiles that part no equal values, categories, intersections, what is left out."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.auditing.cohort import Attribute, Cohort
from clinqa.auditing.dimensions import Dimension, Excluded, cut, dimensions_of
from clinqa.auditing.table import are_dates
from clinqa.core.errors import ConfigError, PrivacyError


def cohort(*attributes: Attribute, tract: list[int] | None = None) -> Cohort:
    size = len(attributes[0].values)
    numbers = np.array(tract if tract is not None else range(size), np.int64)
    return Cohort([f"p{at}" for at in range(size)], attributes, numbers, int(numbers.max()) + 1)


def one(values: list[str | None], name: str = "x", **options: object) -> Dimension | Excluded:
    unit = str(options.pop("unit", "patient"))
    dates = bool(options.pop("is_date", False))
    made = cohort(Attribute(name, unit, values, dates))
    options.setdefault("least", 2)
    try:
        found, left = dimensions_of(made, np.ones(len(values), np.int64), **options)  # type: ignore[arg-type]
    except ConfigError as error:
        return Excluded(name, str(error))
    return (found or left)[0]  # type: ignore[return-value]


def test_a_continuous_attribute_is_cut_into_four_named_quarters_with_cut_points() -> None:
    made = one([str(number) for number in range(1, 21)])
    assert isinstance(made, Dimension)
    assert made.groups == ("low", "lower middle", "upper middle", "high")
    assert made.cuts == (5.0, 10.0, 15.0) and made.sizes() == [5, 5, 5, 5]
    assert made.ranges == ("up to 5", "over 5 up to 10", "over 10 up to 15", "over 15")


def test_quarters_that_ties_leave_empty_are_joined_by_name_and_it_is_said() -> None:
    values = ["0"] * 12 + [str(number) for number in range(1, 13)]
    made = one(list(values))
    assert isinstance(made, Dimension)
    assert made.groups == ("low to lower middle", "upper middle", "high")
    assert made.sizes() == [12, 6, 6] and made.ranks == (0, 2, 3)
    assert "equal values fill more than a quarter" in made.note


@given(st.lists(st.integers(-5, 5).map(float), min_size=4, max_size=60))
def test_equal_values_never_part_and_every_part_lies_above_the_one_before(
    numbers: list[float],
) -> None:
    values = np.array(numbers)
    _, codes, ranks = cut(values, values)
    assert len(set(codes.tolist())) == len(ranks)
    for code in range(len(ranks) - 1):
        assert values[codes == code].max() < values[codes == code + 1].min()
    for value in set(numbers):
        assert len(set(codes[values == value].tolist())) == 1


def test_quartiles_are_over_patients_unless_told_to_be_over_items_or_tracts() -> None:
    values = [str(number) for number in range(1, 13)]
    items = np.array([1] * 11 + [100])
    attribute = Attribute("x", "patient", values)
    (plain,), _ = dimensions_of(cohort(attribute), items, least=2)
    assert plain.sizes() == [3, 3, 3, 3]
    with pytest.raises(ConfigError, match="fewer than two"):
        dimensions_of(cohort(attribute), items, over="items", least=2)
    shared = [str(n) for n in range(1, 13) for _ in range(1 if n < 12 else 20)]
    tract = [n for n in range(12) for _ in range(1 if n < 11 else 20)]
    by_tract = Attribute("x", "tract", shared)
    (made,), _ = dimensions_of(cohort(by_tract, tract=tract), np.ones(31), over="tracts", least=2)
    assert made.cuts == (3.0, 6.0, 9.0)


def test_few_numbers_are_categories_in_the_order_of_numbers() -> None:
    made = one(["10", "9", "9", "10", "90", "90"])
    assert isinstance(made, Dimension) and made.kind == "categories"
    assert made.groups == ("9", "10", "90")


def test_the_label_of_a_small_group_is_withheld_too() -> None:
    made = one(["a", "a", "rare", "b", "b", "odd"])
    assert isinstance(made, Dimension)
    assert made.groups == ("a", "b", "small group 1", "small group 2")
    assert made.small == {2, 3}


def test_a_second_column_of_ids_is_no_attribute() -> None:
    made = one([f"p{at}" for at in range(5)] + [None])
    assert isinstance(made, Excluded) and "own ids" in made.reason


@pytest.mark.parametrize(
    "value",
    ["2020-01-31", "31.01.20", "20200131", "2020-01-31T10:00", "2020-01", "1/2020", "12-Jan-2020",
     "5 Feb 2021", "Mar 3, 2020", "2nd May 1999", "Mon, 5 Jan 2021", "2020-Q3", "2020W05"],
)  # fmt: skip
def test_dates_are_known_in_every_spelling(value: str) -> None:
    assert are_dates("x", {value})
    assert are_dates("x", {value, "unknown"})
    assert not are_dates("x", {value, "unknown", "53"})


@pytest.mark.parametrize("value", ["2020", "53", "5234.56", "18-24", "65+", "May", "1990-95", "a"])
def test_years_amounts_and_spans_are_no_dates(value: str) -> None:
    assert not are_dates("x", {value})
    assert are_dates("birthDate", {value}) and are_dates("DOB", {value})


def ids(many: int) -> list[str]:
    return [f"p{at}" for at in range(many)]


def test_the_ids_of_patients_in_another_order_are_no_dimension() -> None:
    shuffled = ids(60)[30:] + ids(60)[:30]
    made = one(list(shuffled))
    assert isinstance(made, Excluded) and "own ids" in made.reason
    numbers = [str(70000 + 7 * at) for at in range(60)]
    there = Cohort(numbers, [Attribute("x", "patient", numbers[20:] + numbers[:20])],
                   np.arange(60), 60)  # fmt: skip
    for asked in ((), ("x",)):
        with pytest.raises(ConfigError, match="own ids"):
            dimensions_of(there, np.ones(60, np.int64), continuous=asked)


def test_ages_are_no_ids_where_patients_are_called_1_2_3() -> None:
    numbers = [str(at) for at in range(1, 61)]
    ages = [str(20 + at * 37 % 60) for at in range(60)]
    there = Cohort(numbers, [Attribute("age", "patient", ages)], np.arange(60), 60)
    found, _ = dimensions_of(there, np.ones(60, np.int64))
    assert found[0].kind == "quartiles"


def test_the_ids_of_tracts_are_no_dimension() -> None:
    places = [f"0100{at % 6}" for at in range(60)]
    there = Cohort(ids(60), [Attribute("area", "tract", places)],
                   np.arange(60) % 6, 6, places=places)  # fmt: skip
    with pytest.raises(ConfigError, match="tracts' own ids"):
        dimensions_of(there, np.ones(60, np.int64))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("stay", [str(100003 + 7919 * at) for at in range(60)]),
        ("x", [f"{at:08d}" for at in range(1, 61)]),
        ("home_zip", [str(2101 + at) for at in range(60)]),
        ("hospitalId", [str(1000 * at) for at in range(60)]),
    ],
)
def test_record_numbers_and_codes_are_cut_only_where_they_are_said_to_be_amounts(
    name: str, values: list[str]
) -> None:
    made = one(list(values), name)
    assert isinstance(made, Excluded) and "ids or codes" in made.reason
    said = one(list(values), name, continuous=(name,))
    assert isinstance(said, Dimension) and said.kind == "quartiles"


def test_few_codes_are_categories_as_they_are_written() -> None:
    made = one(["02118", "02119"] * 6, "zip")
    assert isinstance(made, Dimension) and made.groups == ("02118", "02119")


def test_what_no_measurement_can_be_is_no_number_and_text_no_category() -> None:
    made = one([str(at % 9 + 1) * 300 for at in range(60)])
    assert isinstance(made, Excluded) and "texts of over 100" in made.reason
    assert "9999" not in made.reason
    made = one(["1_000", "2_000"] * 6)
    assert isinstance(made, Dimension) and made.kind == "categories"


def test_numbers_among_which_some_are_none_are_categories_and_it_is_said() -> None:
    made = one([">89", "70", "71", "72"] * 5)
    assert isinstance(made, Dimension) and made.kind == "categories"
    assert "1 of its 4 values are no numbers" in made.note


def test_one_intersection_is_asked_for_once() -> None:
    made = cohort(Attribute("a", "patient", ["x", "y"] * 6), Attribute("b", "patient", ["u"] * 6
                  + ["v"] * 6))  # fmt: skip
    with pytest.raises(ConfigError, match="given twice"):
        dimensions_of(made, np.ones(12, np.int64), intersect=[["a", "b"], ["b", "a"]])


def test_missing_is_no_group_and_never_dropped() -> None:
    made = one(["a", "a", None, "b", "b", None])
    assert isinstance(made, Dimension)
    assert made.codes.tolist() == [0, 0, -1, 1, 1, -1]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["a"] * 6, "all patients have the same value"),
        ([None] * 6, "all are missing"),
        ([f"c{number}" for number in range(300)], r"300 categories \(at most 50\)"),
        (["a"] * 5 + ["b"], "fewer than two of its 2 groups have 2 patients"),
        (["1", "2", "x"] + [str(n) for n in range(3, 100)], "of which 1 are no numbers"),
    ],
)
def test_what_makes_no_groups_is_left_out_with_its_reason(
    values: list[str | None], reason: str
) -> None:
    made = one(values)
    assert isinstance(made, Excluded)

    assert re.search(reason, made.reason)


def test_small_groups_are_marked_and_do_not_enter() -> None:
    made = one(["a"] * 5 + ["b"] * 4 + ["c"], least=3)
    assert isinstance(made, Dimension)
    assert made.small == {2} and made.entering().tolist() == [0] * 5 + [1] * 4 + [-1]


def test_intersections_of_two_and_three_name_their_parts() -> None:
    first = Attribute("sex", "patient", ["F", "F", "M", "M"] * 6)
    second = Attribute("race", "patient", ["a", "b"] * 12)
    third = Attribute("site", "patient", ["x"] * 12 + ["y"] * 12)
    made, _ = dimensions_of(
        cohort(first, second, third),
        np.ones(24),
        intersect=[["sex", "race"], ["sex", "race", "site"]],
        least=2,
    )
    crossed = made[3]
    assert crossed.name == "sex × race"
    assert crossed.groups == ("F × a", "F × b", "M × a", "M × b")
    assert len(made[4].groups) == 8 and made[4].sizes() == [3] * 8
    for wrong in (["sex"], ["sex", "sex"], ["sex", "race", "site", "sex"]):
        with pytest.raises(ConfigError, match="two or three"):
            dimensions_of(cohort(first, second, third), np.ones(24), intersect=[wrong])


def test_dates_next_to_tracts_are_refused_and_by_themselves_left_out() -> None:
    day = Attribute("admitted", "patient", ["2150-01-01", "2150-02-01"] * 6, True)
    income = Attribute("income", "tract", ["1", "2"] * 6)
    sex = Attribute("sex", "patient", ["F", "M"] * 6)
    with pytest.raises(PrivacyError, match="dates"):
        dimensions_of(cohort(day, income), np.ones(12))
    made, left = dimensions_of(cohort(day, sex), np.ones(12), least=2)
    assert [d.name for d in made] == ["sex"] and "dates" in left[0].reason
    made, _ = dimensions_of(cohort(day, income), np.ones(12), wanted=["income"], least=2)
    assert [d.name for d in made] == ["income"]


def test_unknown_names_and_contradictions_are_said() -> None:
    sex = Attribute("sex", "patient", ["F", "M"] * 6)
    with pytest.raises(ConfigError, match="no dimension 'gender'"):
        dimensions_of(cohort(sex), np.ones(12), wanted=["gender"])
    with pytest.raises(ConfigError, match="not both"):
        dimensions_of(cohort(sex), np.ones(12), continuous=["sex"], categorical=["sex"])
    with pytest.raises(ConfigError, match="2 of its values are no numbers"):
        dimensions_of(cohort(sex), np.ones(12), continuous=["sex"])


def test_categories_that_differ_in_capitals_only_are_told() -> None:
    made = one(["White", "WHITE", "Black"] * 4)
    assert isinstance(made, Dimension) and "capitals" in made.note
