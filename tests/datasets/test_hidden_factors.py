"""The truth that the generator claims to know."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from river_pufe import datasets

CYCLE = datasets.Cycle(n_spaces=3, period=100, overlap=20)


def matrix(dataset, space):
    rows = []
    for x in dataset.truth():
        row = [x[key] for key in x if key.startswith(f"s{space}_")]
        rows.append(row or [np.nan] * dataset.width)
    return np.array(rows)


def make(**parameters):
    return datasets.HiddenFactors(**{"cycle": CYCLE, "n_samples": 300, "seed": 3, **parameters})


def test_any_features_of_one_space_determine_those_of_the_others():
    dataset = make()
    old, new = matrix(dataset, 0)[100:], matrix(dataset, 1)[100:]
    assert np.linalg.matrix_rank(old) == np.linalg.matrix_rank(new) == dataset.n_factors
    solution, *_ = np.linalg.lstsq(new[:20, 2:5], old[:20])
    np.testing.assert_allclose(new[:, 2:5] @ solution, old, atol=1e-8)


def test_readings_and_targets_come_from_the_factors():
    dataset = make(regression=True)
    y = np.array([y for _, y in dataset])
    for space in range(3):
        known = ~np.isnan(matrix(dataset, space)[:, 0])
        factors = matrix(dataset, space)[known] @ np.linalg.pinv(dataset.loadings[space]).T
        np.testing.assert_allclose(factors @ dataset.weights[space], y[known], atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(dataset.weights[space]), 1)


def test_labels_are_the_sign_of_the_target():
    numbers, labels = ([y for _, y in make(regression=r)] for r in (True, False))
    assert [y > 0 for y in numbers] == labels
    assert all(isinstance(y, bool) for y in labels)
    assert 0.4 < np.mean(labels) < 0.6


def test_reverse_labels_at_each_change():
    plain, reverse = (np.array([y for _, y in make(reverse_labels=r, regression=True)]) for r in (False, True))
    sign = np.repeat([1, -1, 1], 100)
    np.testing.assert_array_equal(plain * sign, reverse)


def test_unrelated_spaces_tell_nothing_of_each_other():
    dataset = make(unrelated=True, n_samples=3_000, cycle=datasets.Cycle(), regression=True)
    y = np.array([y for _, y in dataset])[1_500:]
    old, new = (matrix(dataset, space)[1_500:] for space in (0, 1))
    assert abs(np.corrcoef(old.T, new.T)[:8, 8:]).max() < 0.1
    assert max(abs(np.corrcoef(column, y)[0, 1]) for column in old.T) < 0.1
    solution, *_ = np.linalg.lstsq(new[:50], y[:50])
    np.testing.assert_allclose(new @ solution, y, atol=1e-9)


def test_noise_is_in_the_readings_and_in_the_truth():
    dataset = make(noise=0.5, n_samples=3_000, cycle=datasets.Cycle())
    noise = matrix(dataset, 0) - matrix(make(n_samples=3_000, cycle=datasets.Cycle()), 0)
    assert np.isclose(noise.std(), 0.5, rtol=0.05)
    assert np.linalg.matrix_rank(matrix(dataset, 0)) == dataset.width
    assert [y for _, y in dataset] == [y for _, y in make(n_samples=3_000, cycle=datasets.Cycle())]


def test_goes_on_for_ever():
    dataset = make(n_samples=None)
    assert "∞" in repr(dataset)
    assert len(list(itertools.islice(dataset, 500))) == 500
    assert list(itertools.islice(dataset, 300)) == list(make())
    with pytest.raises(ValueError, match="period must be given"):
        datasets.HiddenFactors(n_samples=None)
