"""Does an estimator keep what it promises on streams whose features come and go?

River's own checks, `river.checks`, say what holds for every estimator of River. The checks here say what must hold
beside them where keys come and go, for the estimators of this package and for any other classifier, regressor or
transformer. They are used alike:

    from river_pufe import checks

    for check in checks.yield_checks(model):
        check(model)

Each check is a law, and says how it was broken:

- looking changes nothing (`check_looking_changes_nothing`), and neither does what others do with what went in and came
  out (`check_nothing_is_shared`);
- nor do the order of the keys (`check_key_order_changes_nothing`), their names and types
  (`check_key_names_change_nothing`), the types of numbers (`check_number_types_change_nothing`), or how absence is
  written (`check_absent_values_change_nothing`);
- the weights of experts are a distribution (`check_expert_weights`);
- what is rejected is named, and leaves no trace (`check_bad_values_are_rejected`, `check_bad_targets_are_rejected`,
  `check_bad_weights_are_rejected`);
- memory is bounded, however often the features change (`check_memory_is_bounded`);
- what is gone is recovered where it follows from what is there (`check_recovery`), and what is absent is completed
  (`check_completion`);
- a clone forgets (`check_clone_forgets`), copies remember (`check_copies_remember`), and so do
  states without code (`check_states_remember`);
- answers are plain Python (`check_answers_are_plain`), and finite whatever comes (`check_answers_are_finite`);
- nothing is excused (`check_no_check_is_skipped`).

A check trains clones, so the model that it is given stays as it is.
"""

from __future__ import annotations

from .answers import check_answers_are_finite, check_answers_are_plain, check_expert_weights
from .bad_input import check_bad_targets_are_rejected, check_bad_values_are_rejected, check_bad_weights_are_rejected
from .estimator import check_estimator, check_no_check_is_skipped, yield_checks
from .invariance import (
    check_absent_values_change_nothing,
    check_key_names_change_nothing,
    check_key_order_changes_nothing,
    check_number_types_change_nothing,
)
from .recovery import check_completion, check_recovery
from .state import (
    check_clone_forgets,
    check_copies_remember,
    check_looking_changes_nothing,
    check_memory_is_bounded,
    check_nothing_is_shared,
    check_states_remember,
)

__all__ = [
    "check_absent_values_change_nothing",
    "check_answers_are_finite",
    "check_answers_are_plain",
    "check_bad_targets_are_rejected",
    "check_bad_values_are_rejected",
    "check_bad_weights_are_rejected",
    "check_clone_forgets",
    "check_completion",
    "check_copies_remember",
    "check_estimator",
    "check_expert_weights",
    "check_key_names_change_nothing",
    "check_key_order_changes_nothing",
    "check_looking_changes_nothing",
    "check_memory_is_bounded",
    "check_no_check_is_skipped",
    "check_nothing_is_shared",
    "check_number_types_change_nothing",
    "check_recovery",
    "check_states_remember",
    "yield_checks",
]
