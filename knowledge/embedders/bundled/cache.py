"""Keep the built graph on disk: built once, whole or not at all, shared by all processes."""

import fcntl
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from knowledge.embedders.base import EmbedderUnavailable
from knowledge.embedders.fingerprint import hash_file

logger = logging.getLogger(__name__)

OWNER_ONLY_FOLDER = 0o700
OWNER_ONLY_FILE = 0o600


class GraphCache:
    """The files of one graph in a folder: `<stem>.onnx`, `<stem>.onnx.data` and `<stem>.json`.

    The JSON file holds the SHA-256 of the other two and is put in place last; without it, or with other sums in
    it, the graph counts as absent and is built again. A lock file keeps two processes from building at once.
    """

    def __init__(self, folder: Path, *, stem: str, build: Callable[[Path], None]) -> None:
        """Take `build`, which writes the graph to the path it is given and its constants beside it."""
        self._folder = folder
        self._stem = stem
        self._build = build
        self._graph = folder / f"{stem}.onnx"
        self._sums = folder / f"{stem}.json"

    def path(self) -> Path:
        """Return the path of a complete, verified graph, building it if need be.

        :raises EmbedderUnavailable: if the folder cannot be written.
        """
        try:
            self._folder.mkdir(mode=OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
            with self._locked():
                if not self._is_intact():
                    self._publish()
        except OSError as error:
            raise EmbedderUnavailable(
                f"Cannot keep the embedding model in {self._folder}: {error}. "
                "It needs 150 MB of space and write permission.",
                f"埋め込みモデルを {self._folder} に保存できません: {error}。"
                "150 MB の空き容量と書き込み権限が必要です。",
                folder=str(self._folder),
            ) from error
        return self._graph

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self._folder / f"{self._stem}.lock"
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY_FILE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            # Closing alone would not do: a child forked meanwhile holds a copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def _is_intact(self) -> bool:
        try:
            expected = json.loads(self._sums.read_text())
            found = {name: hash_file(self._folder / name) for name in self._file_names()}
        except FileNotFoundError:
            return False
        except ValueError:
            expected, found = None, {}
        if expected != found:
            logger.warning("embedding graph %s is damaged; building it again", self._graph)
            return False
        return True

    def _file_names(self) -> tuple[str, str]:
        return self._graph.name, f"{self._graph.name}.data"

    def _publish(self) -> None:
        partial = self._folder / f"{self._stem}.partial"
        shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed; we hold the lock
        partial.mkdir(mode=OWNER_ONLY_FOLDER)
        try:
            logger.info("building embedding graph %s", self._graph)
            self._build(partial / self._graph.name)
            sums = {name: hash_file(partial / name) for name in self._file_names()}
            (partial / self._sums.name).write_text(json.dumps(sums))
            for name in (*reversed(self._file_names()), self._sums.name):
                (partial / name).chmod(OWNER_ONLY_FILE)
                (partial / name).replace(self._folder / name)
        finally:
            shutil.rmtree(partial)
