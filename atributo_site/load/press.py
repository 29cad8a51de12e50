"""Press: clients in threads that do one kind of thing until the time is over."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from django.db import DatabaseError, connections

from allocation.errors import AtributoError
from allocation.transactions import CollectionKeyIsLocked
from atributo_site.load.deeds import DEEDS, Deed
from atributo_site.load.figures import Sample
from atributo_site.load.ground import Ground

MOST_OPERATIONS = 100_000  # of each kind: what is made must be removed again


def press(kind: str, ground: Ground, clients: int, seconds: float) -> Sample:
    """What all the clients together did."""
    begun = time.monotonic()
    work = partial(_client, kind, ground, begun, seconds, MOST_OPERATIONS // clients)
    with ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(work, range(clients)), Sample())


def _client(
    kind: str, ground: Ground, begun: float, seconds: float, most: int, client: int
) -> Sample:
    sample = Sample()
    try:
        deed = DEEDS[kind](ground, client)
        for _ in range(most):
            _do(deed, sample, begun)  # at least once, however long it took to begin
            if time.monotonic() - begun >= seconds:
                break
    finally:
        connections.close_all()
    return sample


def _do(deed: Deed, sample: Sample, begun: float) -> None:
    started = time.monotonic()
    try:
        deed()
    except (AtributoError, DatabaseError) as error:
        _count(error, sample)
        return
    ended = time.monotonic()
    sample.ended.append(ended - begun)
    sample.took.append(ended - started)


def _count(error: Exception, sample: Sample) -> None:
    """A key that another client holds is refused as it should be: that is no error."""
    if getattr(error, "status_code", None) == CollectionKeyIsLocked.status_code:
        sample.refused += 1
    else:
        sample.errors[type(error).__name__] += 1
