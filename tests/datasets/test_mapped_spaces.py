"""Laws of the spaces that are random maps of another one."""

from __future__ import annotations

import random

import numpy as np
import pytest
from river.datasets import Phishing

from river_pufe import datasets

CYCLE = datasets.Cycle(n_spaces=3, period=40, overlap=20)


def source(n=120, d=5, scale=1.0, seed=0):
    rng = random.Random(seed)
    return [({j: rng.gauss(3, scale) for j in range(d)}, rng.random() < 0.5) for _ in range(n)]


def arrays(dataset, space):
    """The first space and another one, in all rounds in which the latter is known."""
    first, other = [], []
    for x in dataset.truth():
        if images := [value for key, value in x.items() if str(key).startswith(f"s{space}_")]:
            first.append([value for key, value in x.items() if isinstance(key, int)])
            other.append(images)
    return np.array(first), np.array(other)


@pytest.mark.parametrize("space", [1, 2])
@pytest.mark.parametrize("width", [0.4, 1, 2])
def test_a_space_is_one_affine_map_of_the_first(space, width):
    first, other = arrays(datasets.MappedSpaces(source(), CYCLE, width=width, seed=1), space)
    assert other.shape == (120 - (space * 40 - 20), int(5 * width))
    design = np.column_stack([first, np.ones(len(first))])
    solution, *_ = np.linalg.lstsq(design[:50], other[:50])
    np.testing.assert_allclose(design @ solution, other, atol=1e-9)


@pytest.mark.parametrize("width", [1, 1.6])
def test_a_wide_space_determines_the_first(width):
    first, other = arrays(datasets.MappedSpaces(source(), CYCLE, width=width, seed=1), 1)
    design = np.column_stack([other, np.ones(len(other))])
    solution, *_ = np.linalg.lstsq(design[:50], first[:50])
    np.testing.assert_allclose(design @ solution, first, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_images_do_not_depend_on_the_units_of_the_features(scale):
    dataset = datasets.MappedSpaces(source(2_000, scale=scale), datasets.Cycle(), width=4, seed=1)
    _, images = arrays(dataset, 1)
    assert 0.5 < np.sqrt(np.mean(images.var(axis=0))) < 2


def test_the_maps_depend_on_the_seed():
    a, b = (list(datasets.MappedSpaces(source(), CYCLE, seed=seed))[50][0] for seed in (1, 2))
    assert all(a[key] != b[key] for key in ("s1_0", "s1_1"))


def test_the_first_space_is_the_data_set():
    dataset = datasets.MappedSpaces(Phishing(), datasets.Cycle(period=500), seed=1)
    for (x, _), (original, _) in zip(dataset.take(480), Phishing()):
        assert x == original


def test_what_is_absent_counts_as_the_mean():
    full = source(60)
    mean = {j: float(np.mean([x[j] for x, _ in full[:21]])) for j in range(5)}
    cycle = datasets.Cycle(period=40, overlap=20)

    def image(value):
        last = {**full[50][0], 2: value}
        if value is ...:
            del last[2]
        dataset = datasets.MappedSpaces([*full[:50], (last, True)], cycle, seed=1)
        return pytest.approx(list(dataset)[50][0])

    expected = image(mean[2])
    for absent in (None, float("nan"), ...):
        assert image(absent) == expected.expected


def test_booleans_are_numbers():
    bools = [({"a": t % 2 == 0, "b": t % 3 == 0}, t) for t in range(60)]
    ints = [({key: int(value) for key, value in x.items()}, y) for x, y in bools]
    a, b = (list(datasets.MappedSpaces(data, datasets.Cycle(), seed=1)) for data in (bools, ints))
    assert a == b


@pytest.mark.parametrize("value", ["red", "3", b"3", float("inf"), [1], object()])
def test_what_is_no_number_has_to_be_encoded_first(value):
    dataset = datasets.MappedSpaces([({"colour": value}, True)] * 60, datasets.Cycle(), seed=1)
    with pytest.raises(ValueError, match=r"feature 'colour' is .* encode it first"):
        list(dataset)


def test_names_are_not_taken_twice():
    inner = datasets.MappedSpaces(source(), datasets.Cycle(period=30), seed=1)
    with pytest.raises(ValueError, match="named like those of a new space"):
        list(datasets.MappedSpaces(inner, datasets.Cycle(period=60), seed=1))


def test_constant_and_late_features():
    late = [({"a": 1.0} | ({"b": float(t)} if t > 50 else {}), t) for t in range(100)]
    dataset = datasets.MappedSpaces(late, datasets.Cycle(period=50), width=2, seed=1)
    assert all(x == {"s1_0": 0.0, "s1_1": 0.0} for x, _ in list(dataset)[50:])
