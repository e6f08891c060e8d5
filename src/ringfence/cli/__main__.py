"""`python -m ringfence.cli` is the same as `ringfence`."""

from __future__ import annotations

from ringfence.cli.front import main

if __name__ == "__main__":
    main()
