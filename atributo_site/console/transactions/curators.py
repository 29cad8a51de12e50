"""Show the active curator, the standbys, and what each sweep repaired."""

from django.http import HttpRequest, HttpResponse

from allocation.transactions.curator.status import curators
from atributo_site.console.transactions.list import TransactionsScreen
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key

KINDS = [
    "curator.active",
    "curator.handed_over",
    "curator.repaired",
    "curator.replaced",
    "curator.resigned",
]
LOG = 30


class Curators(TransactionsScreen):
    actions = {"GET": "curator.view"}
    url_name = "transactions-curators"
    template_name = "console/transactions/curators.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        running = curators(now)
        page = page_by_key(
            Event.objects.all(),
            lambda events: events.of_kinds(KINDS),
            **self.page_keys,
            size=LOG,
        )
        return self.show(
            active=next((each for each in running if each["active"]), None),
            standbys=[each for each in running if not each["active"]],
            page=page,
            may_hand_over=may(request.user, "curator.hand_over"),
            now=now,
        )
