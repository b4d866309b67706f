"""Pin the images of the compose file by digest, or say which are not.

``python -m tools.image_digests``, on a machine with a network, asks the registries for the digests of the images that
docker-compose.yml names, and of the one that the hub's own is built on. It writes docker-compose.digests.yml, which
compose reads over docker-compose.yml. No Docker is needed, and no login: all of them are public. ``--check [FILE …]``
exits with 1 and names what these files, read one over the other as by compose, leave without a digest (without FILE:
these two). A tag may be given to another image at any time; a digest is the SHA-256 of the manifest, computed here.
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
PINNED = REPOSITORY / "docker-compose.digests.yml"
BASE = "BASE_IMAGE"  # the argument of the Dockerfile's FROM
DOCKER_HUB = "registry-1.docker.io"
# The lists of all processors' manifests before one: what OCI and Docker call them.
ACCEPTED = (
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
)
DIGEST = re.compile(r"@sha256:[0-9a-f]{64}\Z")
HEADER = "# Written by python -m tools.image_digests: the images of docker-compose.yml by digest.\n"
TIMEOUT_S = 30


class RegistryError(Exception):
    """A registry does not say what an image is; the message says which, and why."""


def images_of(file: Path) -> dict[str, str]:
    """Return the image of each service that a compose file names; of one that is built, what it is built on."""
    services = yaml.safe_load(file.read_text(encoding="utf-8"))["services"]
    named = {service: _image(facts) for service, facts in services.items()}
    return {service: image for service, image in named.items() if image is not None}


def _image(facts: dict[str, Any]) -> str | None:
    if "build" in facts:
        return str(facts["build"]["args"][BASE])
    return facts.get("image")


def unpinned(files: Sequence[Path]) -> list[str]:
    """Say in a line for each image which has no digest, or that of an image that the first file does not name."""
    first, *over = (images_of(file) for file in files)
    lines = []
    for service, image in first.items():
        pinned = next((images[service] for images in reversed(over) if service in images), image)
        if not DIGEST.search(pinned):
            lines.append(f"{service}: {pinned} has no digest")
        elif DIGEST.sub("", pinned) != DIGEST.sub("", image):
            lines.append(f"{service}: {pinned} is not {image}, as {files[0].name} has it now")
    return lines


def manifest_url(image: str) -> str:
    """Return where its registry has what a tag stands for. As for Docker, names without a registry are Docker Hub's."""
    name, _colon, tag = image.rpartition(":")
    if not name or "/" in tag:  # the colon of a port
        name, tag = image, "latest"
    host, slash, path = name.partition("/")
    if not slash:
        host, path = DOCKER_HUB, f"library/{name}"
    elif not re.search(r"[.:]|\Alocalhost\Z", host):
        host, path = DOCKER_HUB, name
    scheme = "http" if re.match(r"(?:localhost|127(?:\.\d+){3})(?::|\Z)", host) else "https"
    return f"{scheme}://{host}/v2/{path}/manifests/{tag}"


def digest_of(image: str, http: httpx2.Client) -> str:
    """Ask an image's registry for its digest, ``sha256:…``. Source: OCI Distribution Specification, "Pull".

    :raises RegistryError: it is not there, or is not what the registry says that it is.
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
    said = answer.headers.get("Docker-Content-Digest", digest)
    if said != digest:
        raise RegistryError(f"{image}: {url} says {said}, and sends what has the digest {digest}")
    return digest


def _anonymous_token(challenge: str, http: httpx2.Client) -> str:
    """Get the token that anybody gets, from where a registry's challenge says. Source: its "Token Authentication"."""
    asked = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    answer = http.get(asked.pop("realm"), params=asked).raise_for_status().json()
    return str(answer.get("token") or answer["access_token"])


def pin(compose: Path, target: Path) -> dict[str, str]:
    """Write the file that compose reads over ``compose``; return the images by service, each with its digest.

    :raises RegistryError: of one there is none; nothing is written.
    """
    images = images_of(compose)
    with httpx2.Client(timeout=TIMEOUT_S, follow_redirects=True) as http:
        digests = {image: digest_of(image, http) for image in sorted(set(images.values())) if not DIGEST.search(image)}
    pinned = {service: f"{image}@{digests[image]}" if image in digests else image for service, image in images.items()}
    built = {name for name, facts in yaml.safe_load(compose.read_text())["services"].items() if "build" in facts}
    services = {
        service: {"build": {"args": {BASE: image}}} if service in built else {"image": image}
        for service, image in pinned.items()
    }
    target.write_text(HEADER + yaml.safe_dump({"services": services}, sort_keys=False), encoding="utf-8")
    return pinned


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, or check; 1, with what is wrong and what to do, when an image has no digest."""
    parser = argparse.ArgumentParser(prog="python -m tools.image_digests", description=__doc__.splitlines()[0])
    parser.add_argument("--check", nargs="*", type=Path, metavar="FILE", help="ask nobody; say what has no digest")
    given = parser.parse_args(arguments)
    if given.check is None:
        try:
            pinned = pin(COMPOSE, PINNED)
        except RegistryError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        sys.stdout.write("".join(f"{image}\n" for image in sorted(set(pinned.values()))))
        return 0
    files = given.check or [file for file in (COMPOSE, PINNED) if file.exists()]
    lines = unpinned(files)
    if lines:
        lines.append(f"run python -m tools.image_digests, and have compose read {PINNED.name}, too (COMPOSE_FILE)")
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
