"""One user of an embedded server, in a process: ``python -m tests.hub.core.embedded.user_process KIND HOME``.

Prints the server's main pid when the server is there, then lives until its standard input ends.
"""

import sys
from pathlib import Path

from hub.core.embedded import EmbeddedPostgres, EmbeddedValkey


def main() -> None:
    kind, home = sys.argv[1], Path(sys.argv[2])
    server = {"postgres": EmbeddedPostgres, "valkey": EmbeddedValkey}[kind](home)
    server.ensure()
    sys.stdout.write((home / "server.lock").read_text() + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
