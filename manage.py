#!/usr/bin/env python
"""The hub's command line."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    from hub.cli import run

    sys.exit(run(sys.argv))


if __name__ == "__main__":
    main()
