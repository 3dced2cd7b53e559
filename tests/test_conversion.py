"""Which conversion it was is told by the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import constants

from river_pufe.recovery.conversion import NONE, Conversion, find_conversion, fits, follows

factors = st.floats(-1e3, 1e3).filter(lambda factor: abs(factor) > 1e-3)
conversions = st.builds(Conversion, factors, st.floats(-1e3, 1e3))


@given(conversions, conversions, st.floats(-1e3, 1e3))
def test_conversions_are_composed_and_taken_back(first, second, value):
    def convert(conversion, number):
        return conversion.factor * number + conversion.offset

    both = convert(second, convert(first, value))
    assert convert(second.after(first), value) == pytest.approx(both, rel=1e-6, abs=1e-3)
    assert convert(first.inverse(), convert(first, value)) == pytest.approx(value, rel=1e-6, abs=1e-3)


def readings(noise, n=64, seed=0):
    """What is expected of a thermometer in °F, and what it reads; shape (n,)."""
    rng = np.random.default_rng(seed)
    expected = rng.normal(68, 10, size=n)
    return expected, expected + noise * rng.normal(size=n)


CHANGES = {
    "°F to °C": (lambda x: (x - 32) / 1.8, Conversion(1.8, 32.0)),
    "°F to K": (lambda x: (x - 32) / 1.8 + 273.15, Conversion(1.8, -459.67)),
    "kilo": (lambda x: x / 1000, Conversion(1000.0, 0.0)),
    "milli": (lambda x: x * 1000, Conversion(0.001, 0.0)),
    "miles": (lambda x: x * 1.609344, Conversion(1 / 1.609344, 0.0)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", range(5))
def test_common_units_are_found_exactly(change, seed):
    convert, known = CHANGES[change]
    expected, read = readings(2.0, 24, seed)
    assert find_conversion(convert(read), expected, 2.0, True, False) == pytest.approx(known)


def test_nothing_is_as_hot_as_that():
    """Below a thousand degrees it is a thermometer, and above it some other conversion, which takes more values."""
    for level, found in ((900.0, pytest.approx((1.8, 32.0))), (1100.0, None)):
        expected, read = readings(2.0, 24)
        expected, read = expected + level - 68, read + level - 68
        assert find_conversion((read - 32) / 1.8, expected, 2.0, True, False) == found


@pytest.mark.parametrize("seed", range(5))
def test_other_conversions_are_estimated(seed):
    expected, read = readings(1.0, seed=seed)
    assert find_conversion((read - 7) / 1.37, expected, 1.0, True, False) is None
    found = find_conversion((read - 7) / 1.37, expected, 1.0, True, True)
    assert found.factor * (68 - 7) / 1.37 + found.offset == pytest.approx(68, abs=0.5)
    assert found.factor == pytest.approx(1.37, rel=0.05)


@pytest.mark.parametrize(
    ("change", "number"), [(lambda x: x - 7.3, 0), (lambda x: 1.37 * x, 1)], ids=["offset", "factor"]
)
def test_one_number_is_estimated_where_one_is_enough(change, number):
    """As the criterion says, which takes a second one of no use in a few cases of a hundred."""
    found = []
    for seed in range(40):
        expected, read = readings(1.0, seed=seed)
        found.append(find_conversion(change(read), expected, 1.0, True, True)[number] == NONE[number])
    assert np.mean(found) > 0.8


@pytest.mark.parametrize("explained", [True, False])
def test_what_fits_is_not_converted(explained):
    expected, read = readings(2.0, 24)
    expected = expected if explained else np.full(24, 68.0)
    assert find_conversion(read, expected, 2.0 if explained else 10.0, explained, False) == NONE


def test_only_a_key_that_others_explain_fits_without_varying():
    """A lone one that stays at its level may be at rest, and so has neither a conversion nor fits."""
    at_rest = np.full(24, 68.0)
    for explained in (True, False):
        assert fits(at_rest, at_rest, 10.0, explained) is explained
        assert find_conversion(at_rest, at_rest, 10.0, explained, True) == (NONE if explained else None)
        # Nor after a conversion.
        found = find_conversion(at_rest / 1000 + 0.01 * (np.arange(24) == 3), at_rest, 10.0, explained, True)
        assert found is None


@pytest.mark.parametrize(
    "change",
    [lambda x: np.full(64, x[0]), lambda x: np.random.default_rng(1).permutation(x)],
    ids=["at rest", "noise"],
)
@pytest.mark.parametrize("final", [True, False])
def test_another_sensor_has_no_conversion(change, final):
    expected, read = readings(2.0)
    assert find_conversion(change(read), expected, 2.0, True, final) is None


def test_a_lone_key_is_converted_only_after_a_gross_change_by_a_common_unit():
    rng = np.random.default_rng(0)
    read, expected = rng.normal(68, 10, size=24), np.full(24, 68.0)
    assert find_conversion(read / 1000, expected, 10.0, False, True) == (1000.0, 0.0)
    assert find_conversion((read - 32) / 1.8, expected, 10.0, False, True) == pytest.approx((1.8, 32.0))
    # A new level, another spread, and a unit that few things have.
    assert find_conversion(read + 60, expected, 10.0, False, True) is None
    assert find_conversion(68 + 10 * (read - 68), expected, 10.0, False, True) is None
    assert find_conversion(read * 4.184, expected, 10.0, False, True) is None


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_a_change_is_gross_in_any_unit(unit):
    """By the level, in deviations: where it stays, a lone key may have come to rest for a while."""
    rng = np.random.default_rng(0)
    for level, found in ((68.0, (1000.0, 0.0)), (20.0, None)):
        read, expected = unit * rng.normal(level, 10, size=24), unit * np.full(24, level)
        assert find_conversion(read / 1000, expected, 10.0 * unit, False, True) == found


@pytest.mark.parametrize("new", ["Celsius", "Kelvin", "Fahrenheit"])
@pytest.mark.parametrize("old", ["Celsius", "Kelvin", "Fahrenheit"])
def test_a_temperature_may_be_in_any_scale(old, new):
    celsius, rng = np.random.default_rng(0).normal(20, 6, size=24), np.random.default_rng(1)
    before = constants.convert_temperature(celsius, "Celsius", old)
    after = constants.convert_temperature(celsius, "Celsius", new)
    noise = 0.1 * before.std()
    expected = before + noise * rng.normal(size=24)
    found = find_conversion(after, expected, noise, True, False)
    zero, one = constants.convert_temperature([0.0, 1.0], new, old)
    assert found == pytest.approx((one - zero, zero), abs=1e-6)


@pytest.mark.parametrize("explained", [True, False])
@pytest.mark.parametrize("power", [*range(-10, 0), *range(1, 11)])
def test_prefixes_go_from_nano_to_giga(power, explained):
    expected, read = readings(2.0, 24) if explained else (np.full(24, 68.0), readings(10.0, 24)[1])
    found = find_conversion(read / 10.0**power, expected, 2.0 if explained else 14.0, explained, False)
    assert found == (pytest.approx((10.0**power, 0.0)) if abs(power) < 10 else None)


def test_a_factor_is_not_estimated_from_values_that_are_at_right_angles_to_what_is_expected():
    """Values of a mean of 0 against expected ones whose products with them cancel have no factor alone."""
    expected = np.tile([1.0, 2.0, 3.0, 4.0], 16)
    values = expected - 3.0
    assert values @ expected == 0.0
    assert find_conversion(values, expected, 0.1, True, True) == pytest.approx((1.0, 3.0))


def test_units_are_those_of_physics():
    """A key that was in one unit of a pair, and is in the other one now, is converted without an estimate."""
    hour, minute = constants.hour, constants.minute
    pairs = [minute, hour, constants.kmh, constants.calorie, constants.foot, constants.pound]
    pairs += [100 * constants.inch, constants.mile / 1000, 1000 * constants.gallon]
    expected, read = readings(2.0, 24)
    for unit in pairs:
        for factor in (unit, 1.0 / unit):
            found = find_conversion(read / factor, expected, 2.0, True, False)
            assert found == pytest.approx((factor, 0.0), rel=1e-9), unit


def test_one_value_that_says_nothing_of_its_deviation_tells_nothing_of_units():
    expected, read = readings(2.0, 24)
    deviation = np.full(24, 2.0)
    assert find_conversion(read / 1000, expected, deviation, True, True) == (1000.0, 0.0)
    deviation[3] = 0.0
    assert find_conversion(read / 1000, expected, deviation, True, True) is None
    assert not fits(read, expected, deviation, True)


def test_what_never_varied_has_no_conversion():
    assert find_conversion(np.arange(24.0), np.ones(24), 0.0, True, True) is None
    assert not follows(np.arange(24.0), np.ones(24))


def test_no_conversion_is_beyond_what_numbers_can_say():
    expected, read = readings(0.1)
    assert follows(1e-300 * read, expected)
    assert not follows(1e-310 * read, expected)
    assert find_conversion(1e-310 * read, expected, 0.1, True, True) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_lone_thermometer_in_kelvin_is_not_one_in_tenths(seed):
    celsius = np.random.default_rng(seed).normal(22, 10, size=24)
    found = find_conversion(celsius + 273.15, np.full(24, 22.0), 10.0, False, True)
    assert found == pytest.approx(Conversion(1.0, -273.15))


def test_a_perfect_fit_is_a_fit():
    expected, _ = readings(0.0)
    assert find_conversion(expected / 1024 * 1024, expected, 1.0, True, False) == NONE
    assert find_conversion(expected * 1000, expected, 1.0, True, False) == pytest.approx((0.001, 0.0))
