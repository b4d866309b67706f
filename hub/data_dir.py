"""HUB_DATA_DIR, the folder of the hub's own files, and what is kept there before anything runs: key and catalogue."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import tempfile
from pathlib import Path

from hub.config import Configuration


def make_data_dir(path: Path) -> Path:
    """Create HUB_DATA_DIR for its owner only; a folder that lets others pass through keeps that one bit."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & 0o066:
        path.chmod(0o700)
    return path


def secret_key(config: Configuration) -> str:
    """SECRET_KEY, or a key generated once and kept in HUB_DATA_DIR (never in production)."""
    if config.secret_key:
        return config.secret_key
    path = make_data_dir(config.hub_data_dir) / "secret_key"
    if not path.exists():
        draft = path.with_name(f"secret_key.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        with contextlib.suppress(FileExistsError):  # another process was first: its key counts
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()


def compiled_catalogue(source: Path, folder: Path) -> Path:
    """Compile a language's ``.po`` file for gettext, unless it was; gives the folder that is a locale path of Django.

    It lies below ``folder`` under the digest of its source, so that a newer or an older version has one of its own.
    It appears complete or not at all: several processes may start at once.
    """
    text = source.read_bytes()
    locale_path = folder / hashlib.sha256(text).hexdigest()[:16]
    target = locale_path / source.relative_to(source.parents[2]).with_suffix(".mo")
    if not target.exists():
        import polib  # needed once, not at every start

        compiled = polib.pofile(text.decode()).to_binary()
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix="draft-", delete=False) as draft:
            draft.write(compiled)
        Path(draft.name).replace(target)
    return locale_path
