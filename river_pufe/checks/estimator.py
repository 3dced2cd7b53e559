"""Which laws is a model asked to keep?"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator

from river import base, compose

from . import answers, bad_input, invariance, recovery, state
from .playing import is_transformer

Check = Callable[[typing.Any], None]


def yield_checks(model: base.Estimator) -> Iterator[Check]:
    """The checks that apply to a model.

    A pipeline is only asked for what does not depend on one of its steps alone: what it makes of bad values is up to
    the first one, say, and it keeps a plan of its own once it was used.

    Parameters
    ----------
    model
        A classifier, regressor or transformer.

    Examples
    --------
    >>> from river import linear_model
    >>> from river_pufe import FeatureRecovery, checks
    >>> for check in checks.yield_checks(FeatureRecovery() | linear_model.LinearRegression()):
    ...     print(check.__name__)
    check_key_order_changes_nothing
    check_key_names_change_nothing
    check_clone_forgets
    check_copies_remember
    check_answers_are_plain
    >>> checks.check_bad_values_are_rejected(linear_model.LinearRegression())
    Traceback (most recent call last):
    ...
    AssertionError: learn_one accepts 'text' under the key 's0_0', or does not say what is wrong with it...

    """
    yield invariance.check_key_order_changes_nothing
    yield invariance.check_key_names_change_nothing
    yield state.check_clone_forgets
    yield state.check_copies_remember
    yield answers.check_answers_are_plain
    if isinstance(model, compose.Pipeline):
        return
    yield state.check_looking_changes_nothing
    yield state.check_nothing_is_shared
    yield invariance.check_number_types_change_nothing
    yield invariance.check_absent_values_change_nothing
    yield answers.check_answers_are_finite
    yield bad_input.check_bad_values_are_rejected
    if model._supervised:
        yield bad_input.check_bad_targets_are_rejected
    if "w" in inspect.signature(model.learn_one).parameters:  # type: ignore[attr-defined]
        yield bad_input.check_bad_weights_are_rejected
    yield state.check_memory_is_bounded
    if hasattr(model, "state_dict"):
        yield state.check_states_remember
    yield check_no_check_is_skipped
    if hasattr(model, "expert_weights"):
        yield answers.check_expert_weights
    if hasattr(model, "recover_one"):
        yield recovery.check_recovery
        if is_transformer(model):
            yield recovery.check_completion


def check_estimator(model: base.Estimator) -> None:
    """Check a model against all laws that apply to it.

    Parameters
    ----------
    model
        A classifier, regressor or transformer.

    Examples
    --------
    >>> from river import linear_model
    >>> from river_pufe import FeatureRecovery, checks
    >>> checks.check_estimator(FeatureRecovery() | linear_model.LinearRegression())

    """
    for check in yield_checks(model):
        check(model)


def check_no_check_is_skipped(model: typing.Any) -> None:
    """A model skips none of River's checks."""
    skips = model._unit_test_skips()
    assert not skips, f"{sorted(skips)} are skipped"
