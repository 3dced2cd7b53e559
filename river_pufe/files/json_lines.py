"""What samples do JSON lines hold?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from .cells import Cells
from .lines import Line

_KINDS = {list: "a list", str: "a string", type(None): "null", bool: "a truth value"}


def read(lines: Iterable[str], cells: Cells) -> Iterator[Line]:
    """The objects, one a line; nested ones are flattened, with dots between the names."""
    for number, text in enumerate(lines, start=1):
        if not text or text.isspace():
            continue
        try:
            value = json.loads(text)
            if not text.isascii():
                text.encode()
            record = cells.flat(value) if isinstance(value, dict) else None
        except json.JSONDecodeError as error:
            yield Line(number, error=f"is not JSON: {error.msg} at character {error.colno}")
        except UnicodeEncodeError:
            yield Line(number, error="is not UTF-8: say --encoding latin-1, or whatever it is")
        except RecursionError:
            yield Line(number, error="is nested too deeply")
        except ValueError as error:
            yield Line(number, error=f"is not JSON: {error}")
        else:
            if record is not None:
                yield Line(number, record)
            else:
                yield Line(number, error=f"is {_KINDS.get(type(value), 'a number')}, not an object {{…}}")
