"""List the software that this installation runs on: packages, licences, hashes (CycloneDX)."""

import re
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from atributo_site.config.places import BASE_DIR, IS_CHECKOUT

LOCK = BASE_DIR / "requirements.txt"
PINNED = re.compile(r"^([a-z0-9._-]+)==([^\s;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
NAME = re.compile(r"^[A-Za-z0-9._-]+")
VENDORED = {"uPlot": ("1.6", "MIT")}  # in static/atributo/vendor
UNKNOWN = "not installed here"
LONGEST_NAME = 60  # of a licence; some packages have the whole text in its place


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    licence: str
    hashes: tuple[str, ...]
    needs: tuple[str, ...]

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def packages(lock: Path = LOCK) -> list[Package]:
    """Return the packages of the lock, in its order, as they are installed here.

    Without a checkout there is no lock: then they are what the installed package needs.
    """
    if lock == LOCK and not IS_CHECKOUT:
        return sorted(_needed("atributo", {}).values(), key=lambda package: package.name)
    return [_package(name, version, hashes) for name, version, hashes in _pins(lock.read_text())]


def bill_of_materials(version: str, found: list[Package]) -> dict[str, Any]:
    """Return a CycloneDX 1.5 document, the same for the same packages."""
    root = {"type": "application", "bom-ref": "atributo", "name": "atributo", "version": version}
    components = [*map(_component, found), *(_vendored(name) for name in VENDORED)]
    purls = {package.name: package.purl for package in found}
    graph = [{"ref": "atributo", "dependsOn": [each["bom-ref"] for each in components]}]
    graph += [{"ref": each.purl, "dependsOn": _refs(each, purls)} for each in found]
    described = f"{version} {sorted(purls.values())}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, described)}",
        "version": 1,
        "metadata": {"component": {**root, "licenses": [{"license": {"id": "MIT"}}]}},
        "components": components,
        "dependencies": graph,
    }


def _pins(text: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for block in re.split(r"\n(?=[a-z0-9])", text):
        if pinned := PINNED.match(block):
            yield pinned[1], pinned[2], tuple(HASH.findall(block))


def _package(name: str, version: str, hashes: tuple[str, ...]) -> Package:
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:  # a package for other systems
        return Package(name, version, UNKNOWN, hashes, ())
    needed = [NAME.match(each) for each in found.requires or [] if "extra ==" not in each]
    needs = {each[0].lower().replace("_", "-") for each in needed if each}
    return Package(name, version, _licence(found.metadata), hashes, tuple(sorted(needs)))


def _needed(name: str, known: dict[str, Package]) -> dict[str, Package]:
    """Collect what an installed package needs, and what that needs in turn."""
    for need in _package(name, "", ()).needs:
        if need not in known:
            with suppress(metadata.PackageNotFoundError):  # for other systems
                known[need] = _package(need, metadata.version(need), ())
                _needed(need, known)
    return known


def _licence(fields: Any) -> str:
    """Prefer the SPDX expression to classifiers, and these to free text."""
    if expression := fields.get("License-Expression"):
        return str(expression)
    named = [each for each in fields.get_all("Classifier") or [] if each.startswith("License ::")]
    if named:
        return " AND ".join(each.rpartition(" :: ")[2] for each in named)
    return str(fields.get("License") or "unknown").strip().partition("\n")[0][:LONGEST_NAME]


def _component(package: Package) -> dict[str, Any]:
    hashes = [{"alg": "SHA-256", "content": each} for each in package.hashes]
    files = f"https://pypi.org/project/{package.name}/{package.version}/#files"
    return {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        "licenses": [{"license": {"name": package.licence}}],
        "externalReferences": [{"type": "distribution", "url": files, "hashes": hashes}],
    }


def _vendored(name: str) -> dict[str, Any]:
    version, licence = VENDORED[name]
    purl = f"pkg:npm/{name.lower()}@{version}"
    licences = [{"license": {"id": licence}}]
    facts = {"type": "library", "bom-ref": purl, "name": name, "version": version}
    return {**facts, "purl": purl, "licenses": licences}


def _refs(package: Package, purls: dict[str, str]) -> list[str]:
    return [purls[name] for name in package.needs if name in purls]
