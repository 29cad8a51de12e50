"""Print what this installation runs on: a list of licences, or an SBOM in CycloneDX JSON."""

from typing import Any

from atributo_site import __version__
from atributo_site.commands import AtributoCommand
from atributo_site.status.software import bill_of_materials, packages


class Command(AtributoCommand):
    help = "List packages, versions and licences; --json prints an SBOM (CycloneDX)."
    requires_system_checks: list[str] = []

    def perform(self, *, json: bool, **options: Any) -> None:
        found = packages()
        if json:
            return self.show(bill_of_materials(__version__, found))
        columns = ["package", "version", "licence"]
        self.table(columns, [[each.name, each.version, each.licence] for each in found])
