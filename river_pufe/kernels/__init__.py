"""What is computed in every round: plain, or compiled where there is a compiler. Nothing else knows which one runs."""

from __future__ import annotations

import os

from .forms import (
    LEFT,
    MOST,
    SCALE,
    TRACE,
    FeatureForm,
    FirstOrder,
    Fourier,
    Given,
    Hedge,
    Linear,
    Nearest,
    Numbers,
    Probabilities,
    RuleForm,
    Same,
    SecondOrder,
    TaskForm,
)
from .plain import (
    BINS,
    LEAST,
    SMALLEST,
    account,
    ask,
    clip,
    complete,
    curvature,
    directions,
    errors,
    expect,
    features,
    judge,
    learn_linear,
    linear_scores,
    losses,
    play,
    predictions,
    read,
    regret,
    remember,
    standardize,
    strengthen,
    weigh,
)

#: Whether the compiled version runs. The environment variable RIVER_PUFE_PLAIN keeps the plain one.
compiled = False

if not os.environ.get("RIVER_PUFE_PLAIN"):
    try:
        from ._compiled import (
            account,
            ask,
            clip,
            complete,
            curvature,
            directions,
            errors,
            expect,
            features,
            judge,
            learn_linear,
            linear_scores,
            losses,
            play,
            predictions,
            read,
            regret,
            remember,
            standardize,
            strengthen,
            weigh,
        )

        compiled = True
    except ImportError:  # it was installed without a compiler
        pass

__all__ = [
    "BINS",
    "LEAST",
    "LEFT",
    "MOST",
    "SCALE",
    "TRACE",
    "FeatureForm",
    "FirstOrder",
    "Fourier",
    "Given",
    "Hedge",
    "Linear",
    "Nearest",
    "Numbers",
    "Probabilities",
    "RuleForm",
    "Same",
    "SMALLEST",
    "SecondOrder",
    "TaskForm",
    "account",
    "ask",
    "clip",
    "compiled",
    "complete",
    "curvature",
    "directions",
    "errors",
    "expect",
    "features",
    "judge",
    "learn_linear",
    "linear_scores",
    "losses",
    "play",
    "predictions",
    "read",
    "regret",
    "remember",
    "standardize",
    "strengthen",
    "weigh",
]
