"""Actions on transactions, locks and curators."""

from functools import partial

from allocation.transactions import Client
from allocation.transactions.models import Lock, Transaction
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Lease
from tests.browser.actions.screen_action import ScreenAction, follow, press, typed
from tests.factories.open_transactions import open_transaction

PAGE = "/transactions/{id}/"
WHY = typed("reason", "checked by hand")


def written(key, status="active"):
    """Make a key with the value 110 that an open transaction has set to 90."""
    client = Client()
    client.put("accounts", key, {"balance": 110})
    txn = open_transaction(client, "vera")
    txn.put("accounts", key, {"balance": 90})
    Transaction.objects.filter(pk=txn.id).update(status=status)
    return {"id": txn.id, "key": key}


def active_curator():
    HeldLease.take("curator", "host:1", 600, name="first")
    return {}


def reads(balance):
    return lambda words: (
        not Lock.objects.filter(transaction=words["id"]).exists()
        and Client().get("accounts", words["key"])["balance"] == balance
    )


ACTIONS = [
    ScreenAction(
        "transaction-roll-back",
        given=partial(written, "ada"),
        at=PAGE,
        steps=(follow("Roll back"), WHY, press("Roll back transaction {id}")),
        seen="these changes were rolled back",
        changed=reads(110),
    ),
    ScreenAction(
        "transaction-complete",
        given=partial(written, "grace"),
        at=PAGE,
        steps=(follow("Keep the changes"), WHY, press("Keep the changes of transaction {id}")),
        seen="these changes were committed",
        changed=reads(90),
    ),
    ScreenAction(
        "transaction-retry",
        given=partial(written, "kay", "stuck"),
        at=PAGE,
        steps=(follow("Roll back again"), WHY, press("Try again to roll back transaction {id}")),
        seen="is rolled back. Documents restored: 1.",
        changed=reads(110),
    ),
    ScreenAction(
        "lock-release",
        given=partial(written, "lea"),
        at="/transactions/locks/?collection=accounts&key={key}",
        steps=(follow("Release the lock on accounts/{key}"), WHY, press("Release lock")),
        seen="is released.",
        changed=reads(110),
    ),
    ScreenAction(
        "curators-hand-over",
        given=active_curator,
        at="/transactions/curators/",
        steps=(follow("Hand over"), WHY, press("Hand over")),
        seen="No curator is active",
        changed=lambda words: not Lease.objects.held().filter(role="curator").exists(),
    ),
]
