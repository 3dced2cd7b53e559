"""How does a part of a model look when it is printed?"""

from __future__ import annotations

import inspect
import textwrap
import typing

from river import base


def shown(part: typing.Any) -> str:
    """A part with its parameters, those that are parts themselves indented below it.

    River's own `repr` does so for classes of River only.
    """
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(type(part)).parameters
    lines = [f"{name}={_value(getattr(part, name))}" for name, kind in parameters.items() if kind.kind not in kinds]
    body = "\n" + textwrap.indent("\n".join(lines), "  ") + "\n" if lines else ""
    return f"{type(part).__name__} ({body})"


def _value(value: typing.Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | list) and any(isinstance(item, base.Base) for item in value):
        return "(\n" + textwrap.indent(",\n".join(map(_value, value)), "  ") + "\n)"
    return repr(value)


class Part(base.Base):
    """What a model is made of: a prototype that is cloned, with each parameter under its own name.

    Attributes
    ----------
    form
        What `kernels` need in order to do the work of the part; they see changes in its arrays. None where a part does
        it itself. A subclass has methods of its own, so unless it says otherwise, its form is None.

    """

    form: typing.Any = None

    def __init_subclass__(cls, **kwargs: typing.Any) -> None:
        super().__init_subclass__(**kwargs)
        if "form" not in vars(cls):
            cls.form = None

    def check_state(self) -> None:
        """Raise a ValueError if the attributes, which come from an untrusted source, do not fit together.

        Sizes, above all, must be those of what is there: it is called before anything is made that is as large.
        """

    def __repr__(self) -> str:
        return shown(self)

    def __str__(self) -> str:
        return shown(self)
