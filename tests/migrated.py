"""A data folder with migrated tables, made once in a run of the suite; its processes and their hubs start from copies.

Migrating an empty database takes eight seconds of a processor, of which most goes into Django's models of the past.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from hub.config import BASE_DIR
from hub.core.embedded.launch import make_home
from tests.scratch import RUN_FOLDER


def start_from_migrated(data_dir: Path) -> None:
    """Put a stopped PostgreSQL with the database ``hub`` as migrations leave it into ``data_dir``, unless one is there.

    Everything else of a first start is still to be done: keys, the first administrator, the sample.
    """
    home = data_dir / "postgres"
    if (home / "data").exists():
        return
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_home(home)
    # The files belong to the user that the server runs as, which cp keeps.
    subprocess.run(["cp", "-a", str(_made_once() / "postgres" / "data"), str(home)], check=True)


def _made_once() -> Path:
    """Return the data folder that this run copies, having made it if nobody has; others wait meanwhile."""
    folder = Path(os.environ[RUN_FOLDER]) / "migrated"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "done"
        if not done.exists():
            own_servers = {"DATABASE_URL": "", "REDIS_URL": "", "POSTGRES_HOST": ""}
            command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
            environment = {**os.environ, **own_servers, "HUB_DATA_DIR": str(folder)}
            subprocess.run(command, cwd=BASE_DIR, env=environment, check=True)
            with (folder / "postgres" / "data" / "postgresql.auto.conf").open("a") as settings:
                settings.write("fsync = off\n")  # what a machine without power would lose, no test looks at
            done.touch()
    return folder
