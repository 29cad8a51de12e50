"""Print what this installation runs on: a list of licences, or an SBOM in CycloneDX JSON."""

import tomllib
from typing import Any

from atributo_site.commands import AtributoCommand
from atributo_site.config.environment import BASE_DIR
from atributo_site.status.software import bill_of_materials, packages


class Command(AtributoCommand):
    help = "List packages, versions and licences; --json prints an SBOM (CycloneDX)."
    requires_system_checks: list[str] = []

    def perform(self, *, json: bool, **options: Any) -> None:
        found = packages()
        if json:
            project = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]
            return self.show(bill_of_materials(project["version"], found))
        columns = ["package", "version", "licence"]
        self.table(columns, [[each.name, each.version, each.licence] for each in found])
