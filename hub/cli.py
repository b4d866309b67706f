"""The way into every command: one readable line on stderr for what went wrong, a traceback only when asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db.utils import OperationalError, ProgrammingError
from django.utils import translation
from psycopg.errors import UndefinedTable

from hub.config import ConfigurationError
from hub.core.commands import terminal_language
from hub.core.errors import HubError


def run(argv: Sequence[str]) -> int:
    """Run a command and return its exit code: 2 for a configuration or start-up problem, 1 for a refused request."""
    if "--traceback" in argv:
        execute_from_command_line(list(argv))
        return 0
    try:
        execute_from_command_line(list(argv))
    except ProgrammingError as error:
        if not isinstance(error.__cause__, UndefinedTable):
            raise
        print("manage.py: the database has no tables yet; run: manage.py migrate", file=sys.stderr)  # noqa: T201
        return 2
    except (ConfigurationError, ImproperlyConfigured, OperationalError) as error:
        print(f"manage.py: {error}".strip(), file=sys.stderr)  # noqa: T201
        return 2
    except HubError as error:
        with translation.override(terminal_language()):
            print(f"manage.py: {error}", file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
