"""List the licences of what the hub is shipped with, and write it as an SBOM.

``python -m tools.licences`` prints a line for each distribution that ``requirements/base.txt`` pins: name, version,
licence. With ``--sbom FILE`` it writes them as CycloneDX 1.6 in JSON, too. It reads what is installed in the
environment that runs it, and exits 1 when one is missing, has another version than pinned, or names no licence.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements" / "base.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Licensed:
    """A pinned distribution; ``licence`` is an SPDX expression or the words of its metadata, empty when unknown."""

    name: str
    version: str
    licence: str


def pins(text: str) -> Iterator[tuple[str, str]]:
    """The names and versions of what a compiled file of requirements wants on this platform, in its order."""
    for line in text.splitlines():
        if line[:1].isalnum():
            pin = Requirement(line.removesuffix("\\"))
            if pin.marker is None or pin.marker.evaluate():
                yield pin.name, next(iter(pin.specifier)).version


def licence_of(found: Distribution) -> str:
    """The licence that a distribution's metadata name; empty when they name none.

    An expression counts before classifiers, and those before a free text, which may be a whole licence: its first line
    is given then. Last comes the first line of the file that they name.
    """
    facts = found.metadata
    if "License-Expression" in facts:
        return facts["License-Expression"]
    named = [line for line in facts.get_all("Classifier") or () if line.startswith("License ::")]
    words = [line.rpartition(" :: ")[2] for line in named if line != "License :: OSI Approved"]
    if words:
        return " AND ".join(sorted(words))
    text = facts["License"] if "License" in facts else ""  # noqa: SIM401 (these metadata have no get)
    if not text:
        text = "".join(found.read_text(f"licenses/{name}") or "" for name in facts.get_all("License-File") or ())
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def collect(text: str) -> tuple[list[Licensed], list[str]]:
    """The distributions that ``text`` pins with their licences, and what is wrong with each that has none."""
    licensed, problems = [], []
    for name, version in pins(text):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            problems.append(f"{name}: not installed here; run: pip install -r {REQUIREMENTS.name}")
            continue
        licence = licence_of(found)
        licensed.append(Licensed(name=name, version=found.version, licence=licence))
        if found.version != version:
            problems.append(f"{name}: {found.version} is installed, {version} is pinned")
        if not licence:
            problems.append(f"{name}: its metadata name no licence")
    return licensed, problems


def sbom(licensed: list[Licensed]) -> str:
    """A CycloneDX document, in JSON."""
    licences = LicenseFactory()
    bom = Bom()
    hub = bom.metadata.component = Component(name="hub", type=ComponentType.APPLICATION, bom_ref="hub")
    for one in licensed:
        url = PackageURL(type="pypi", name=one.name.lower().replace("_", "-"), version=one.version)
        given = [licences.make_from_string(one.licence)] if one.licence else []
        bom.components.add(
            Component(
                name=one.name,
                version=one.version,
                purl=url,
                bom_ref=str(url),
                type=ComponentType.LIBRARY,
                licenses=given,
            )
        )
    bom.register_dependency(hub, bom.components)
    return JsonV1Dot6(bom).output_as_string(indent=2)


def main() -> int:
    """Print the list, write the SBOM where asked; 1 while something is unknown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sbom", type=Path, metavar="FILE", help="write CycloneDX JSON there")
    arguments = parser.parse_args()
    licensed, problems = collect(REQUIREMENTS.read_text(encoding="utf-8"))
    for one in licensed:
        sys.stdout.write(f"{one.name}\t{one.version}\t{one.licence}\n")
    if arguments.sbom:
        arguments.sbom.write_text(sbom(licensed) + "\n", encoding="utf-8")
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
