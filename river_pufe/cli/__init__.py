"""How is the package used without writing a line of Python?

`river-pufe` and `python -m river_pufe` are the same. Needs typer, rich and matplotlib, the extra `demo`; without
pictures the extra `cli` will do.
"""

from __future__ import annotations

import sys


def main() -> None:
    """The command line; exits with 0 if all is well, otherwise as `--help` says."""
    try:
        from .commands import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("typer", "rich"):
            raise
        sys.exit(f'The command line needs {error.name}, which is not installed: pip install "river-pufe[cli]"')
    except KeyboardInterrupt:
        sys.exit(130)
    app(prog_name="river-pufe")
