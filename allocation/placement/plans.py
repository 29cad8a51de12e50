"""Preview what a drain or a rebalance would move: all counts, and a list of the first moves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from allocation.errors import UnknownInstance
from allocation.instances.availability import load_of
from allocation.instances.validation import check_request
from allocation.logic.drain import Move, arrivals, plan, replan
from allocation.logic.forecast import Forecast, Load, Turnover, forecast, turnovers
from allocation.logic.labels import as_texts
from allocation.models import Allocation, Instance
from allocation.placement.candidates import cached, read_loads
from allocation.placement.destinations import Destinations
from allocation.placement.rebalance import beginning
from atributo_site.core.ids import valid_ids

MOST_PLANNED = 10_000  # jobs that one preview looks at
LISTED = 100


@dataclass(frozen=True)
class Plan:
    """`looked_at` is less than `jobs` when there are too many for one preview."""

    jobs: int
    looked_at: int
    moves: list[Move]
    arrivals: dict[str, int]
    nowhere: int
    turnovers: Sequence[Turnover] = ()  # of a rebalance only, as is the forecast
    forecast: Forecast | None = None

    @property
    def listed(self) -> list[Move]:
        return self.moves[:LISTED]

    @property
    def busiest(self) -> dict[str, int]:
        return dict(islice(self.arrivals.items(), LISTED))

    @property
    def most_touched(self) -> Sequence[Turnover]:
        return self.turnovers[:LISTED]

    @property
    def facts(self) -> dict[str, Any]:
        """Return what REST and commands show."""
        return {
            "jobs": self.jobs,
            "looked_at": self.looked_at,
            "count": len(self.moves),
            "nowhere": self.nowhere,
            "arrivals": self.arrivals,
            "moves": [
                {"job_id": m.job_id, "from_instance": m.source, "to_instance": m.target}
                for m in self.listed
            ],
        }


def plan_drain(instance_id: str, using: str = "default", most: int = MOST_PLANNED) -> Plan:
    """Preview where the jobs of an instance would go."""
    if not Instance.objects.using(using).filter(pk=instance_id).exists():
        raise UnknownInstance(f"there is no instance {instance_id}", instance_id=instance_id)
    jobs = Allocation.objects.using(using).on(instance_id).order_by("job_id")
    destinations = Destinations.without(instance_id, using)
    placed = list(jobs.values_list("job_id", "instance_id")[: destinations.most(most)])
    destinations.expect(job_id for job_id, _ in placed)
    moves = plan(placed, destinations.choose)
    return _plan(load_of(instance_id, using), placed, moves, len(placed) - len(moves))


def plan_rebalance(using: str = "default", most: int = MOST_PLANNED) -> Plan:
    """Preview which jobs would move if all were placed again now."""
    rows = Allocation.objects.using(using).order_by("job_id")
    destinations = beginning(using)
    placed = list(rows.values_list("job_id", "instance_id")[: destinations.most(most)])
    destinations.expect(job_id for job_id, _ in placed)
    moves, _ = replan(placed, destinations.choose_again, most)
    jobs = read_loads(using).jobs
    takers = [Load(each.id, jobs.get(each.id, 0), each.weight) for each in cached(using).all]
    planned = _plan(sum(jobs.values()), placed, moves, 0)
    return replace(planned, turnovers=turnovers(jobs, moves), forecast=forecast(takers, moves))


def plan_jobs(
    job_ids: list[str], using: str = "default", *, labels: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """Return where these jobs are, or would be if they were allocated now; store nothing."""
    check_request(labels=labels or {})
    wanted = valid_ids(job_ids)
    rows = Allocation.objects.using(using).filter(pk__in=wanted)
    places: dict[str, str | None] = dict(rows.values_list("job_id", "instance_id"))
    destinations = Destinations.without(None, using)
    destinations.asked = dict.fromkeys(wanted, as_texts(labels))
    for job_id in wanted:
        if job_id not in places:
            places[job_id] = destinations.choose(job_id)
    return {job_id: places[job_id] for job_id in wanted}


def _plan(total: int, placed: list[tuple[str, str]], moves: list[Move], nowhere: int) -> Plan:
    return Plan(total, len(placed), moves, arrivals(moves), nowhere)
