"""Choose the user a server runs as when the hub is run by root, which PostgreSQL refuses to be.

The data and the programs may lie below folders that no other user can traverse, and those folders are not ours to
open. So the server keeps one capability of root's, from the first of these that the system grants:

1. CAP_DAC_READ_SEARCH: it may traverse and read everything, and write only what is its own. The home folder stays
   closed, so that other processes of the same user can't reach the data.
2. None: it reaches its files by itself, the home folder being made traversable.
3. CAP_DAC_OVERRIDE: it may also write everything. Containers often grant this one and not the first.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterator
from pathlib import Path

from hub.core.embedded.errors import EmbeddedServerError
from hub.core.embedded.folders import first_closed_folder, open_home_for
from hub.core.embedded.launch import RunAs, run_command

# Source: linux/capability.h.
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2

_PROBE_LIMIT_S = 60.0
_SETTING = "HUB_PG_OS_USER"


def choose_user(*, program: Path, home: Path, data: Path) -> RunAs | None:
    """Choose the user and capability with which ``program`` runs and ``home`` can be traversed; None = as we are.

    Only root chooses. The owner of an existing ``data`` folder comes before HUB_PG_OS_USER, and this one before
    ``nobody``. Gives ``home`` its mode.

    :raises EmbeddedServerError: there is no such user, it is root, or it can't reach the files in any way.
    """
    if os.geteuid() != 0:
        open_home_for(home, None)
        return None
    uid, gid = _user_for(data)
    reason = ""
    for candidate in _candidates(uid, gid):
        open_home_for(home, candidate)
        probe = run_command([str(program), "--version"], run_as=candidate, folder=home, limit_s=_PROBE_LIMIT_S)
        if probe.returncode == 0:
            return candidate
        reason = probe.stdout.strip()
    open_home_for(home, None)
    raise _unreachable(RunAs(uid=uid, gid=gid, capability=None), (home / "data", program), reason)


def _candidates(uid: int, gid: int) -> Iterator[RunAs]:
    capabilities = (CAP_DAC_READ_SEARCH, None, CAP_DAC_OVERRIDE) if sys.platform == "linux" else (None,)
    for capability in capabilities:
        yield RunAs(uid=uid, gid=gid, capability=capability)


def _user_for(data: Path) -> tuple[int, int]:
    if data.exists() and (owner := data.stat()).st_uid != 0:
        return owner.st_uid, owner.st_gid
    name = os.environ.get(_SETTING) or "nobody"
    try:
        user = pwd.getpwnam(name)
    except KeyError as error:
        raise _unfit(name, "does not exist", "は存在しません") from error
    if user.pw_uid == 0:
        raise _unfit(name, "is root, which PostgreSQL refuses", "は root で、PostgreSQL が拒否します")
    return user.pw_uid, user.pw_gid


def _unfit(name: str, en: str, ja: str) -> EmbeddedServerError:
    return EmbeddedServerError(
        en=f"The system's user {name} {en}. Set {_SETTING} to an unprivileged user to run PostgreSQL as.",
        ja=f"OS のユーザー {name} {ja}。PostgreSQL を実行する一般ユーザーを {_SETTING} に設定してください。",
    )


def _unreachable(user: RunAs, paths: tuple[Path, ...], reason: str) -> EmbeddedServerError:
    closed = [folder for path in paths if (folder := first_closed_folder(path, user))]
    where_en = f"the folder {closed[0]} is closed to it" if closed else reason
    where_ja = f"フォルダー {closed[0]} に入れません" if closed else reason
    return EmbeddedServerError(
        en=f"PostgreSQL can't run as the user with id {user.uid}: {where_en}. Let that user traverse the folder"
        " (chmod o+x), move HUB_DATA_DIR or the programs elsewhere, run the hub as an ordinary user, or set"
        f" DATABASE_URL. {_SETTING} chooses the user.",
        ja=f"PostgreSQL をユーザー ID {user.uid} で実行できません：{where_ja}。"
        "そのユーザーの通過を許可する（chmod o+x）、HUB_DATA_DIR かプログラムを移す、hub を一般ユーザーで実行する、"
        f"DATABASE_URL を設定する、のいずれかを行ってください。ユーザーは {_SETTING} で選べます。",
    )
