"""python -m river_pufe"""

from __future__ import annotations

from river_pufe.cli import main

if __name__ == "__main__":
    main()
