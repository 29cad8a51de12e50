"""Show one watched name with its backends and last changes."""

from django.http import HttpRequest, HttpResponse

from atributo_site.console.pools.list import PoolScreen
from atributo_site.core.models.clock import database_now
from pools.configuration import pool_named
from pools.models import BackendChange
from pools.reporting.live_view import with_live
from pools.timeline import with_history

MOST_ON_A_PAGE = 100


class OneName(PoolScreen):
    template_name = "console/pools/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        pool = pool_named(name)
        changes = BackendChange.objects.filter(pool=pool).order_by("-id")[:10]
        backends = pool.backends.order_by("state", "id")[:MOST_ON_A_PAGE]
        rows = with_history(with_live(backends), database_now())
        return self.show(pool=pool, backends=rows, changes=changes, title=pool.name)
