"""Hold the images of the compose file to their digests.

``python -m tools.image_digests``, on a machine with a network, asks the registries for each image that
docker-compose.yml names, and for the one that the hub's own is built on, by its digest, and says where its tag stands
for another one by now; it exits with 1 where an image is not there. ``--write`` puts into docker-compose.yml and the
Dockerfile what the tags stand for now: after a version was changed there. ``--check [FILE]`` asks nobody, and names the
images without a digest. No Docker is needed, and no login: all of them are public. A tag may be given to another image
at any time; a digest is the SHA-256 of the manifest, computed here from what was sent.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
import yaml

REPOSITORY = Path(__file__).resolve().parent.parent
COMPOSE = REPOSITORY / "docker-compose.yml"
DOCKERFILE = REPOSITORY / "Dockerfile"
BASE = "BASE_IMAGE"  # the argument of the Dockerfile's FROM
DOCKER_HUB = "registry-1.docker.io"
# The lists of all processors' manifests before one: what OCI and Docker call them.
ACCEPTED = (
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
)
DIGEST = re.compile(r"@(sha256:[0-9a-f]{64})\Z")
TIMEOUT_S = 30


class RegistryError(Exception):
    """A registry does not say what an image is; the message says which, and why."""


def images_of(compose: Path) -> list[str]:
    """Return the images that a compose file names, sorted; of a service that is built, what it is built on."""
    services = yaml.safe_load(compose.read_text(encoding="utf-8"))["services"]
    return sorted({image for facts in services.values() if (image := _image(facts)) is not None})


def _image(facts: dict[str, Any]) -> str | None:
    if "build" in facts:
        return str(facts["build"]["args"][BASE])
    return facts.get("image")


def manifest_url(image: str) -> str:
    """Return where its registry has an image: by its digest, or what its tag stands for.

    As for Docker, names without a registry are Docker Hub's.
    """
    digest = DIGEST.search(image)
    name, _colon, tag = DIGEST.sub("", image).rpartition(":")
    if not name or "/" in tag:  # the colon of a port
        name, tag = DIGEST.sub("", image), "latest"
    host, slash, path = name.partition("/")
    if not slash:
        host, path = DOCKER_HUB, f"library/{name}"
    elif not re.search(r"[.:]|\Alocalhost\Z", host):
        host, path = DOCKER_HUB, name
    scheme = "http" if re.match(r"(?:localhost|127(?:\.\d+){3})(?::|\Z)", host) else "https"
    return f"{scheme}://{host}/v2/{path}/manifests/{digest[1] if digest else tag}"


def digest_of(image: str, http: httpx2.Client) -> str:
    """Ask an image's registry for its digest, ``sha256:…``. Source: OCI Distribution Specification, "Pull".

    :raises RegistryError: it is not there, or is not what its name or the registry says that it is.
    """
    url, headers = manifest_url(image), {"Accept": ACCEPTED}
    try:
        answer = http.get(url, headers=headers)
        if answer.status_code == httpx2.codes.UNAUTHORIZED:
            token = _anonymous_token(answer.headers.get("WWW-Authenticate", ""), http)
            answer = http.get(url, headers=headers | {"Authorization": f"Bearer {token}"})
        answer.raise_for_status()
    except (httpx2.HTTPError, KeyError, ValueError) as error:
        raise RegistryError(f"{image}: no digest from {url}: {error}") from error
    digest = f"sha256:{hashlib.sha256(answer.content).hexdigest()}"
    named = DIGEST.search(image)
    said = named[1] if named else answer.headers.get("Docker-Content-Digest", digest)
    if said != digest:
        raise RegistryError(f"{image}: {url} is to be {said}, and what it sends has the digest {digest}")
    return digest


def _anonymous_token(challenge: str, http: httpx2.Client) -> str:
    """Get the token that anybody gets, from where a registry's challenge says. Source: its "Token Authentication"."""
    asked = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    answer = http.get(asked.pop("realm"), params=asked).raise_for_status().json()
    return str(answer.get("token") or answer["access_token"])


def newest(compose: Path) -> dict[str, str]:
    """Return each image of the compose file with the digest that its tag stands for now.

    :raises RegistryError: a registry does not have one of them, by its tag or by the digest that the file names.
    """
    found = {}
    with httpx2.Client(timeout=TIMEOUT_S, follow_redirects=True) as http:
        for image in images_of(compose):
            if DIGEST.search(image):
                digest_of(image, http)
            tagged = DIGEST.sub("", image)
            found[image] = f"{tagged}@{digest_of(tagged, http)}"
    return found


def write(images: dict[str, str], files: Sequence[Path]) -> None:
    """Put other images in the place of those that are keys, wherever these files name them as a whole."""
    for file in files:
        text = file.read_text(encoding="utf-8")
        for old, new in images.items():
            text = re.sub(rf"(?<=[ =]){re.escape(old)}$", new, text, flags=re.MULTILINE)
        file.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, write or check; 1, with what is wrong and what to do, where an image has no digest or is not there."""
    parser = argparse.ArgumentParser(prog="python -m tools.image_digests", description=__doc__.splitlines()[0])
    parser.add_argument("--check", nargs="?", type=Path, const=COMPOSE, metavar="FILE", help="name images without one")
    parser.add_argument("--write", action="store_true", help="write what the tags stand for now")
    given = parser.parse_args(arguments)
    if given.check is not None:
        bare = [image for image in images_of(given.check) if not DIGEST.search(image)]
        sys.stderr.write(
            "".join(f"{image} has no digest: run python -m tools.image_digests --write\n" for image in bare)
        )
        return 1 if bare else 0
    try:
        images = newest(COMPOSE)
    except RegistryError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for old, new in images.items():
        sys.stdout.write(f"{old}\n" if old == new else f"{old}: its tag stands for {new} now\n")
    if given.write:
        write(images, (COMPOSE, DOCKERFILE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
