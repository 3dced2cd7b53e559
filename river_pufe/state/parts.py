"""Which objects have a state, and which of their attributes belong to it?"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import inspect
import typing

import numpy as np

from ..part import Part

#: The parts of this package, by the module in which they are. Their names are in states, so they must not change.
_OURS = {
    "aggregation": ("AdaNormalHedge", "Hedge", "FixedShare"),
    "baselines.fesl": ("FESLClassifier", "FESLRegressor"),
    "baselines.nogd": ("NOGDClassifier", "NOGDRegressor"),
    "baselines.ocds": ("OCDSClassifier",),
    "baselines.olsf": ("OLSFClassifier",),
    "baselines.olvf": ("OLVFClassifier",),
    "baselines.opid": ("OPIDClassifier", "OPIDRegressor"),
    "baselines.reform": ("REFORMClassifier", "REFORMRegressor"),
    "baselines.rogd": ("ROGDClassifier", "ROGDRegressor"),
    "baselines.sf2el": ("ManifoldExperts", "ManifoldLearner", "SF2ELClassifier", "SF2ELRegressor"),
    "baselines.zeros": ("Zeros",),
    "experts.feature_maps": ("Identity", "Neighbours", "RandomFourier"),
    "experts.learners": ("OnlineGradientDescent", "RiverModel"),
    "experts.linear": ("LinearExperts",),
    "experts.per_space": ("SpaceExperts",),
    "experts.pool": ("Pool",),
    "experts.rules": ("ImplicitGradient", "Newton"),
    "files.strings": ("OneHotStrings",),
    "pufe": ("PUFEClassifier", "PUFERegressor"),
    "recovery.completion": ("RowSpace",),
    "recovery.doubts": ("Doubts",),
    "recovery.evolution": ("Event", "FeatureSpace", "Rescaled"),
    "recovery.feature_recovery": ("FeatureRecovery",),
    "recovery.fit": ("Fit",),
    "recovery.gaussian": ("Gaussian",),
    "recovery.gaussian_rows": ("GaussianRows",),
    "recovery.least_squares_rows": ("LeastSquaresRows",),
    "recovery.linear_map": ("Affine", "LinearMap"),
    "recovery.low_rank": ("LowRankGaussian",),
    "recovery.overlap": ("Moments", "Overlap", "Relation"),
    "recovery.presence": ("Presence",),
    "recovery.reading": ("Retired",),
    "recovery.rows": ("RowReader",),
    "recovery.scaling": ("NoScaler", "RowScaler"),
    "recovery.scatter": ("Scatter",),
    "recovery.spaces": ("FeatureSpaces", "_Retired"),
    "recovery.wide": ("WideOverlap", "WideScatter"),
    "sketch": ("FrequentDirections",),
    "tasks.classification": ("Classification", "MarginClassification"),
    "tasks.regression": ("PlainRegression", "Regression"),
    "tasks.target_scaling": ("TargetScaler",),
}
#: Arrays in which NaN or infinity says something; all others are finite.
_NOT_FINITE = {("Affine", "covariance"), ("Presence", "_due"), ("RowScaler", "_latest")}
_PACKAGE = __name__.partition(".")[0]
_MODULES = {name: module for module, names in _OURS.items() for name in names}
#: The classes of these names, as far as they were needed, and the other way round.
_CLASSES: dict[str, type] = {}
_NAMES: dict[type, str] = {}


class Stored:
    """An object some of whose attributes follow from the others, and are neither pickled nor part of a state.

    A subclass names them in `DERIVED` and computes them in `rebuild`.

    **When to use it.** As a base of a part that keeps something only to be faster.

    Examples
    --------
    >>> from river_pufe.recovery.rows import RowReader
    >>> reader = RowReader("missing")
    >>> reader.extend(["a", "b"])
    >>> reader.slots
    {'a': 0, 'b': 1}
    >>> reader.stored()
    {'absent': 'missing', 'keys': ['a', 'b']}

    """

    DERIVED: typing.ClassVar[tuple[str, ...]] = ()

    def stored(self) -> dict[str, typing.Any]:
        """The attributes that make the state of the object."""
        return {name: value for name, value in vars(self).items() if name not in self.DERIVED}

    def still(self) -> contextlib.AbstractContextManager[typing.Any]:
        """A context in which the object does not change."""
        return contextlib.nullcontext()

    def rebuild(self) -> None:
        """Compute the derived attributes."""

    def verify(self) -> None:
        """Raise a ValueError if the attributes, which come from an untrusted source, do not fit together."""

    def __getstate__(self) -> dict[str, typing.Any]:
        return self.stored()

    def __setstate__(self, attributes: dict[str, typing.Any]) -> None:
        vars(self).update(attributes)
        self.rebuild()


def register(part: type) -> type:
    """Let a class of your own be part of a state; a decorator.

    **When to use it.** For an aggregator, a learner or another part that you have written. Register only classes that
    are harmless with any attributes: a state from an untrusted source chooses them.

    Parameters
    ----------
    part
        The class. Like all of River's, it keeps each parameter under its own name.

    Raises
    ------
    ValueError
        If another class has this name.

    Examples
    --------
    >>> from river_pufe import state
    >>> from river_pufe.aggregation import Hedge
    >>> @state.register
    ... class SlowHedge(Hedge):
    ...     pass
    >>> state.loads(state.dumps(SlowHedge(horizon=100)))
    SlowHedge (
      horizon=100
    )

    """
    name = part.__name__
    known = _CLASSES.get(name)
    if name in _MODULES or not (known is None or known.__module__ == part.__module__):
        raise ValueError(f"another class with the name {name} is part of states already: give this one another name")
    _CLASSES[name], _NAMES[part] = part, name
    return part


def class_of(name: str) -> typing.Any:
    """The class of a name.

    Raises
    ------
    ValueError
        If no registered class has this name.

    """
    if name in _CLASSES:
        return _CLASSES[name]
    if name not in _MODULES:
        raise ValueError(f"the state has a part {name!r}, which is not known here: register its class first")
    part = getattr(importlib.import_module(f"{_PACKAGE}.{_MODULES[name]}"), name)
    _CLASSES[name], _NAMES[part] = part, name
    return part


def name_of(part: type) -> str | None:
    """The name of a registered class; None for any other class."""
    if part not in _NAMES and part.__module__.startswith(_PACKAGE) and part.__name__ in _MODULES:
        class_of(part.__name__)
    return _NAMES.get(part)


def attributes_of(instance: typing.Any) -> dict[str, typing.Any]:
    """The attributes that make the state of an object."""
    return dict(instance.stored() if isinstance(instance, Stored) else vars(instance))


def restore(name: str, attributes: dict[str, typing.Any], trusted: bool) -> typing.Any:
    """An object from its attributes, which are checked unless they are trusted.

    Raises
    ------
    ValueError
        If the attributes are not those of such an object.

    """
    part = class_of(name)
    known = _example(part)
    if not trusted:
        for attribute, value in attributes.items():
            if attribute not in known:
                raise ValueError(f"the state of {name} has the attribute {attribute!r}, which is not known here")
            kind = known[attribute]
            if kind is not None and not isinstance(value, kind):
                raise ValueError(f"the attribute {attribute!r} of {name} cannot be of type {type(value).__name__}")
            if name in _MODULES and (name, attribute) not in _NOT_FINITE and not _is_finite(value):
                raise ValueError(f"the state has numbers that are not finite in {attribute!r} of {name}")
    # An earlier release did not have all of them.
    if missing := known.keys() - attributes:
        fresh = {} if dataclasses.is_dataclass(part) else attributes_of(_fresh(part))
        if not missing <= fresh.keys():
            raise ValueError(f"the state of {name} has no attribute {min(missing)!r}")
        attributes = {**attributes, **{attribute: fresh[attribute] for attribute in missing}}
    instance = part.__new__(part)
    if isinstance(instance, Stored):
        instance.__setstate__(attributes)
    else:
        vars(instance).update(attributes)
    if not trusted and isinstance(instance, Part):
        instance.check_state()
    return instance


def _is_finite(value: typing.Any) -> bool:
    """Whether a value is not an array, or has neither NaN nor infinity in it."""
    return not isinstance(value, np.ndarray) or value.dtype.kind != "f" or bool(np.isfinite(value).all())


@functools.cache
def _example(part: type) -> dict[str, type | tuple[type, ...] | None]:
    """The attributes of a class, and the types they have in a new object; None where any will do."""
    if dataclasses.is_dataclass(part):
        return {field.name: None for field in dataclasses.fields(part)}
    parameters = inspect.signature(part).parameters
    # What a parameter may be is for the class to say: `1` is as good as `1.0`.
    return {name: None if name in parameters else _kind(value) for name, value in attributes_of(_fresh(part)).items()}


def _kind(value: typing.Any) -> type | tuple[type, ...] | None:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return (float, int)
    if value is None:
        return None
    # A part may be of another class than by default, if it is of the same family.
    own = [base for base in type(value).__mro__ if base.__module__.startswith(_PACKAGE) and base is not Stored]
    return own[-1] if own else type(value)


def _fresh(part: type) -> typing.Any:
    parameters = getattr(part, "_unit_test_params", None)
    return part(**next(parameters(), {})) if parameters is not None else part()
