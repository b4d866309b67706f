#!/usr/bin/env python
"""The hub's command line."""

import os
import sys

from hub.core.processes import collect_seldom


def main() -> None:
    collect_seldom()
    if sys.argv[1:3] == ["mcp", "bedrock-kb"]:
        # This server needs neither Django nor a database, and its clients wait for its start.
        from mcp_bridge.bedrock_kb import light

        if light.is_asked_for(sys.argv):
            light.run()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    from hub.cli import run

    sys.exit(run(sys.argv))


if __name__ == "__main__":
    main()
