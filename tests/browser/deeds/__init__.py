"""Everything that can be done with a button: one row for each address that takes a POST."""

from tests.browser.deeds import (
    allocations,
    instances,
    jobs,
    people,
    pools,
    queues,
    services,
    system,
    transactions,
)

# Those of one room share a page for each role, and touch only rows of their own.
ROOMS = {
    "instances": instances.DEEDS,
    "allocations": allocations.DEEDS,
    "queues": queues.DEEDS,
    "jobs": jobs.DEEDS,
    "services": services.DEEDS,
    "transactions": transactions.DEEDS,
    "pools": pools.DEEDS,
    "system": system.DEEDS,
    "people": people.DEEDS,
    "log in": people.LOG_IN,
    "log out": people.LOG_OUT,
}
