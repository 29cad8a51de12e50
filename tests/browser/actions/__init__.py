"""Everything that a button can do: one row for each address that takes a POST."""

from tests.browser.actions import (
    allocations,
    batches,
    instances,
    jobs,
    people,
    pools,
    queues,
    raw_lists,
    schedules,
    services,
    system,
    transactions,
)

# The actions of one room share a page for each role and change only rows of their own.
ROOMS = {
    "instances": instances.ACTIONS,
    "allocations": allocations.ACTIONS,
    "batches": batches.ACTIONS,
    "queues": queues.ACTIONS,
    "jobs": jobs.ACTIONS,
    "schedules": schedules.ACTIONS,
    "services": services.ACTIONS,
    "transactions": transactions.ACTIONS,
    "pools": pools.ACTIONS,
    "system": system.ACTIONS,
    "raw lists": raw_lists.ACTIONS,
    "people": people.ACTIONS,
    "log in": people.LOG_IN,
    "log out": people.LOG_OUT,
}
