"""Six instances in two zones, keys that stick to them, one instance that drains."""

from allocation.atributo import Atributo
from allocation.models import Instance
from allocation.placement.drains import drain

ZONES = {"eu-1": ["ada", "grace", "edsger"], "us-1": ["barbara", "alan", "katherine"]}
CUSTOMERS = [f"customer-{number:03}" for number in range(1, 241)]


def is_empty() -> bool:
    return not Instance.objects.exists()


def seed() -> None:
    ao = Atributo()
    for zone, names in ZONES.items():
        for name in names:
            ao.available(name, capacity=60, labels={"zone": zone})
    ao.allocate_many(CUSTOMERS)
    drain("alan", reason="new kernel tonight", deadline_seconds=3600, moves_per_minute=6)
    ao.unavailable("katherine", reason="disk replaced tomorrow")
