"""What row a dict makes: whichever way it is read, value by value the same."""

from __future__ import annotations

import collections
import decimal
import fractions
import math
import types

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from river_pufe.recovery.rows import RowReader
from river_pufe.values import number

KEYS = ["a", "b", 3, ("c", 1), "d"]


class Whole(int):
    """An integer of a type of its own."""


#: Values that are numbers, values that are none, and values that are not there.
NUMBERS = (
    0.0,
    -0.0,
    2.5,
    1e149,
    -1e151,
    7,
    -(10**200),
    10**400,
    True,
    Whole(3),
    np.float64(1.5),
    np.float32(0.1),
    np.float16(3.3),
    np.longdouble(2.5),
    np.int8(-3),
    np.uint64(2**63),
    np.bool_(True),
    np.array(4.5),
    decimal.Decimal("0.3"),
    fractions.Fraction(1, 3),
)
ABSENT = (math.nan, np.nan, None, np.float32("nan"), decimal.Decimal("sNaN"), pd.NA, pd.NaT)
REFUSED = ("text", b"1", math.inf, -math.inf, np.float32("inf"), 1j, np.timedelta64(3, "s"), [1.0], np.ones(2), range)


def plainly(x, keys, absent, gone):
    """Row, presence and unknown values as the words of the design have it."""
    known = {key: number(key, value) for key, value in x.items()}
    row = [known.get(key, math.nan) for key in keys]
    present = [not math.isnan(value) for value in row]
    if absent == "zero":
        row = [0.0 if not there and not lost else value for value, there, lost in zip(row, present, gone)]
    unknown = {key: value for key, value in known.items() if key not in keys and not math.isnan(value)}
    return np.array(row, dtype=float), present, unknown


def reader(absent="missing"):
    rows = RowReader(absent)
    rows.extend(KEYS)
    return rows


@given(
    st.dictionaries(st.sampled_from([*KEYS, "new", 4]), st.sampled_from(NUMBERS + ABSENT) | st.floats(-1e3, 1e3)),
    st.sampled_from(["missing", "zero"]),
    st.lists(st.booleans(), min_size=len(KEYS), max_size=len(KEYS)),
    st.sampled_from([dict, collections.OrderedDict, types.MappingProxyType]),
)
def test_a_row_has_the_value_of_each_key(x, absent, gone, kind):
    row, values, unknown = reader(absent).read(kind(x), np.array(gone))
    expected, present, others = plainly(x, KEYS, absent, gone)
    assert row.tobytes() == expected.tobytes()
    assert (~np.isnan(values)).tolist() == present
    assert list(unknown.items()) == list(others.items())


@pytest.mark.parametrize("value", REFUSED, ids=repr)
@pytest.mark.parametrize("key", ["b", "new"])
@pytest.mark.parametrize("others", [{}, {"a": 1.0}, dict.fromkeys(KEYS, 1.0), {"d": None, 3: "text"}])
def test_errors_are_those_of_the_first_value_that_is_not_a_number(key, value, others):
    x = {**others, key: value}
    with pytest.raises(ValueError, match=r"^feature ") as expected:
        [number(k, v) for k, v in x.items()]
    with pytest.raises(ValueError, match=r"^feature ") as raised:
        reader().read(x, np.zeros(len(KEYS), dtype=bool))
    assert str(raised.value) == str(expected.value)


def test_a_mapping_that_makes_up_values_is_asked_for_its_items_only():
    made_up = collections.defaultdict(lambda: 9.0, a=1.0)
    row, _, _ = reader().read(made_up, np.zeros(len(KEYS), dtype=bool))
    assert np.isnan(row).tolist() == [False, True, True, True, True]
    assert len(made_up) == 1


def test_slots_can_be_dropped_and_keys_come_back_behind():
    rows = reader()
    rows.keep(np.array([True, False, True, False, True]))
    rows.extend(["b"])
    assert rows.keys == ["a", 3, "d", "b"]
    row, _, unknown = rows.read({"b": 1.0, "a": 2.0, ("c", 1): 3.0}, np.zeros(4, dtype=bool))
    assert row.tolist()[::3] == [2.0, 1.0]
    assert unknown == {("c", 1): 3.0}


def test_columns_are_those_of_the_slots():
    reader = RowReader("missing")
    reader.extend(["a", "b"])
    assert reader.columns(["a", "b"]) == [0, 1]
    assert reader.columns(["x", "b", "a"]) == [2, 1]
    assert reader.columns(["a", "x"]) is None
    assert reader.columns([]) is None
