"""What does a saved model remember, and when is it refused?

A file is a state without code (`river_pufe.state`) of the model and of what it was trained for. If its name ends in
.pickle or .pkl, it has two parts, one after the other: the pickle of the model, as any Python program loads it, and the
pickle of a dict that says what the model was trained for.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import pathlib
import pickle
import platform
import typing
from importlib import metadata

from river import base, compose

from .. import state
from ..state.stateful import Stateful
from . import show

#: A pickle of another one of these may not mean what it meant; patches may differ.
_PACKAGES = ("river-pufe", "river")
#: What is wrong with a pickle whose classes or attributes are not those of this version.
_OTHER = "was saved by another version of river_pufe or of River, or is damaged: install that version, or learn anew"


@dataclasses.dataclass(frozen=True)
class About:
    """What a model was trained for.

    Parameters
    ----------
    target
        Name of the target.
    task
        ``"classification"`` or ``"regression"``.
    ignore
        Names that are not features.
    time
        Name of the column of the time, None if there is none.
    long
        How readings were gathered, None if each line was a sample.
    key
        Name of the column of the key, None if there is one model for all.
    opened
        Times of the rounds in which spaces opened.

    """

    target: str
    task: str
    ignore: tuple[str, ...] = ()
    time: str | None = None
    long: typing.Any = None
    key: str | None = None
    opened: dict[int, typing.Any] = dataclasses.field(default_factory=dict)


def save(path: pathlib.Path, model: typing.Any, about: About, n_samples: int) -> None:
    """Save a model with what it was trained for, all or nothing."""
    with show.replacing(path) as file:
        if is_pickle(path):
            pickle.dump(model, file)
            pickle.dump(_header(about, n_samples), file)
        else:
            file.write(pack(_steps(model), about, n_samples))


def pack(steps: list[typing.Any], about: About, n_samples: int) -> bytes:
    """The steps of a pipeline as bytes, with what they were trained for."""
    return state.dumps({"steps": steps, **_header(about, n_samples)})


def unpack(data: bytes, path: pathlib.Path) -> tuple[list[typing.Any], About]:
    """What was packed.

    Raises
    ------
    RunError
        If it is something else.

    """
    try:
        header = state.loads(data)
        return header["steps"], About(**header["about"])
    except Exception as error:
        raise show.RunError(f"{path} is not a model that can be loaded: {error}") from None


def _header(about: About, n_samples: int) -> dict[str, typing.Any]:
    return {"about": dataclasses.asdict(about), "versions": versions(), "samples": n_samples}


def is_pickle(path: pathlib.Path) -> bool:
    """Whether a name asks for a pickle."""
    return path.suffix.lower() in (".pickle", ".pkl")


def check_form(path: pathlib.Path, model: typing.Any) -> None:
    """Refuse to go on with a model that could not be saved at the end."""
    if not is_pickle(path):
        try:
            state.to_plain(_steps(model))
        except ValueError:
            raise show.UsageError(
                f"{path} would have to contain code of other packages: let its name end in .pickle"
            ) from None


def _steps(model: typing.Any) -> list[typing.Any]:
    return list(model.steps.values()) if isinstance(model, compose.Pipeline) else [model]


def load(path: pathlib.Path) -> tuple[typing.Any, About | None]:
    """A saved model, and what it was trained for; None if it was saved by other means, which do not say.

    Raises
    ------
    RunError
        If the file cannot be read, or was saved by versions that may not fit.

    """
    try:
        with path.open("rb") as file:
            if is_pickle(path):
                model = pickle.load(file)
                _check_layout(path, model)
                try:
                    header = pickle.load(file)
                except EOFError:
                    return model, None
            else:
                header = state.loads(file.read())
                if isinstance(header, base.Estimator):
                    return header, None
                model = functools.reduce(operator.or_, header["steps"])
        about, saved_by = About(**header["about"]), header["versions"]
    except OSError as error:
        raise show.RunError(f"{path} cannot be read: {error.strerror or error}") from None
    except show.RunError:
        raise
    except (ImportError, AttributeError) as error:
        raise show.RunError(f"{path} {_OTHER} ({error})") from None
    except Exception as error:
        # What is not a pickle, or one of another version, can fail in any way.
        raise show.RunError(f"{path} is not a model that can be loaded: {error}") from None
    for package in _PACKAGES if is_pickle(path) else ():
        before, now = saved_by.get(package, "?"), metadata.version(package)
        if before.split(".")[:2] != now.split(".")[:2]:
            raise show.RunError(
                f"{path} was saved by {package} {before}, and this is {now}: install that version, or learn anew"
            )
    return model, about


def _check_layout(path: pathlib.Path, model: typing.Any) -> None:
    """Refuse the pickle of a model whose attributes are not those of this version, which may load all the same."""
    for step in _steps(model):
        if isinstance(step, Stateful):
            try:
                step.verify()
            except Exception as error:
                raise show.RunError(f"{path} {_OTHER} ({error})") from None


def versions() -> dict[str, str]:
    """Versions of what a pickle depends on."""
    return {package: metadata.version(package) for package in _PACKAGES} | {"python": platform.python_version()}


def agree(path: pathlib.Path, saved: About, given: dict[str, typing.Any]) -> None:
    """Refuse what the user says if the model was trained for something else.

    Parameters
    ----------
    path
        File of the model.
    saved
        What it was trained for.
    given
        What the user says, of the same names; None or empty where nothing is said.

    """
    for name, value in given.items():
        before = getattr(saved, name)
        if name == "ignore":
            value, before = set(value), set(before)
        if value and value != before:
            written = " --ignore ".join(sorted(before)) if name == "ignore" else before
            said = f"with --{name} {written}" if before else f"without --{name}"
            raise show.UsageError(f"{path} was saved {said}: leave --{name} out to go on with that, or learn anew")


def check_task(path: pathlib.Path, model: typing.Any, task: str | None) -> None:
    """Refuse a task that a model is not for."""
    kinds = {"classification": base.Classifier, "regression": base.Regressor}
    if task is not None and not isinstance(model, kinds[task]):
        raise show.UsageError(f"{path} is not a model for {task}")
