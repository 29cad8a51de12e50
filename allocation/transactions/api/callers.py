"""Let only the caller that began a transaction over REST go on with it."""

from rest_framework.request import Request

from allocation.transactions.errors import ForeignTransaction, TransactionNotFound
from allocation.transactions.models import Transaction
from atributo_site.rest.authentication import caller_of
from atributo_site.rest.permission import allowed

ONLY = "only the caller that began a transaction goes on with it"


def own(request: Request, pk: int) -> Transaction:
    """Read the transaction; refuse a foreign one before anything of it is touched."""
    row = known(pk)
    if row.caller != caller_of(request):
        raise ForeignTransaction(
            f"transaction {pk} is not yours: {ONLY}; an administrator ends it with a reason",
            owner=row.owner,
        )
    return row


def may_be_ended(request: Request, pk: int) -> Transaction:
    """Return the caller's transaction, or anybody's if the caller may end those of others."""
    return known(pk) if allowed(request, "transaction.end") else own(request, pk)


def known(pk: int) -> Transaction:
    row = Transaction.objects.filter(pk=pk).first()
    if row is None:
        raise TransactionNotFound(f"there is no transaction {pk}")
    return row
