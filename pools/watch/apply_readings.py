"""Apply the readings of watched names, many in one short transaction."""

from collections import defaultdict
from collections.abc import Sequence

import structlog
from django.db import DatabaseError
from django.db.transaction import atomic

from atributo_site.core.availability.trouble import state_of_database
from atributo_site.core.leases import HeldLease
from pools.address_policy import refused_target
from pools.logic.dns.change_guard import is_answered, judge
from pools.models import Backend, Pool
from pools.watch import instances
from pools.watch.observations import Clock, Observation, write_observations
from pools.watch.watched_name import WatchedName

log = structlog.get_logger(__name__)

Weight = tuple[int, int]  # SRV priority and weight


def apply_readings(names: Sequence[WatchedName], clock: Clock, lease: HeldLease) -> int:
    """Apply the oldest reading of each that can be stored; return how many came and went."""
    try:
        return _apply(names, clock, lease)
    except DatabaseError as error:
        if state_of_database(error) is not None:  # no reading can be stored now
            raise
        if len(names) == 1:  # busy, away or refused: the reading is there for the next sweep
            log.exception("dns_reading_kept", pool=names[0].pool_id)
            return 0
    return sum(apply_readings([name], clock, lease) for name in names)


def _apply(names: Sequence[WatchedName], clock: Clock, lease: HeldLease) -> int:
    with atomic():
        lease.guard()
        observations = _observations(names)
        if observations:
            _carry_out(list(observations.values()), clock)
    for name in names:
        name.written()
        if name.pool_id in observations:
            _keep_until_confirmed(name, observations[name.pool_id].verdict.waits)
    verdicts = [observation.verdict for observation in observations.values()]
    return sum(len(verdict.added) + len(verdict.removed) for verdict in verdicts)


def _observations(names: Sequence[WatchedName]) -> dict[int, Observation]:
    """Leave out names that people changed meanwhile: the next sweep begins anew with them."""
    epochs = {name.pool_id: name.epoch for name in names}
    rows = Pool.objects.select_for_update().filter(pk__in=list(epochs)).order_by("pk")
    pools = {pool.pk: pool for pool in rows if pool.epoch == epochs[pool.pk]}
    known = _known_weights(pools)
    return {
        name.pool_id: _observation(name, pools[name.pool_id], known[name.pool_id])
        for name in names
        if name.pool_id in pools
    }


def _observation(name: WatchedName, pool: Pool, known: dict[str, Weight]) -> Observation:
    reading = name.readings[0]
    verdict = judge(
        known.keys(),
        set(reading.backends),
        pool.removal_share,
        name.unconfirmed,
        is_answered(reading.error, reading.steps),
    )
    answered = {key: (each.priority, each.weight) for key, each in reading.backends.items()}
    changed = [key for key, weight in known.items() if answered.get(key, weight) != weight]
    return Observation(pool, reading, verdict, changed)


def _known_weights(pools: dict[int, Pool]) -> dict[int, dict[str, Weight]]:
    """Return weights by pool and key; a refused backend that is permitted by now is new."""
    known: dict[int, dict[str, Weight]] = defaultdict(dict)
    rows = Backend.objects.present().filter(pool__in=list(pools))
    for pk, key, state, address, port, *weight in rows.values_list(
        "pool_id", "key", "state", "address", "port", "priority", "weight"
    ):
        if state == Backend.State.PRESENT or refused_target(address, port):
            known[pk][key] = (weight[0], weight[1])
    return known


def _carry_out(observations: Sequence[Observation], clock: Clock) -> None:
    write_observations(observations, clock)
    arrived = []
    for each in observations:
        answered = each.reading.backends
        instances.remove(each.pool, each.verdict.removed)
        instances.update_weights(each.pool, [answered[key] for key in each.changed])
        arrived += [(each.pool, answered[key]) for key in sorted(each.verdict.added)]
    instances.add(arrived)


def _keep_until_confirmed(name: WatchedName, waits: frozenset[str]) -> None:
    name.unconfirmed = waits
    if waits:
        name.resolver.resolve_now()
