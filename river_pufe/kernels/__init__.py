"""What is computed in every round: plain, or compiled where there is a compiler. Nothing else knows which one runs."""

from __future__ import annotations

import os

from .plain import Row, account, read

#: Whether the compiled version runs. The environment variable RIVER_PUFE_PLAIN keeps the plain one.
compiled = False

if not os.environ.get("RIVER_PUFE_PLAIN"):
    try:
        from ._compiled import account, read

        compiled = True
    except ImportError:  # it was installed without a compiler
        pass

__all__ = ["Row", "account", "compiled", "read"]
