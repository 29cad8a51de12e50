"""The screens at /."""

from django.urls import path

from atributo_site.console import (
    documents,
    events,
    overview,
    search,
    system,
    theme,
    tokens,
    transactions,
)
from atributo_site.rest import ids  # noqa: F401 - registers the converter

urlpatterns = [
    path("", overview.Overview.as_view(), name="overview"),
    path("events/", events.Events.as_view(), name="events"),
    path("events/stream", events.NoStream.as_view(), name="events-stream"),
    path("search/", search.Search.as_view(), name="search"),
    path("system/", system.Health.as_view(), name="system"),
    path("system/processes/", system.Processes.as_view(), name="system-processes"),
    path("system/settings/", system.Settings.as_view(), name="system-settings"),
    path("system/api/", system.RestApi.as_view(), name="system-api"),
    path("system/tokens/", tokens.Tokens.as_view(), name="system-tokens"),
    path(
        "system/tokens/<int:token_id>/revoke",
        tokens.RevokeToken.as_view(),
        name="system-token-revoke",
    ),
    path("transactions/", transactions.Open.as_view(), name="transactions"),
    path("transactions/stuck/", transactions.Stuck.as_view(), name="transactions-stuck"),
    path("transactions/history/", transactions.History.as_view(), name="transactions-history"),
    path("transactions/locks/", transactions.Locks.as_view(), name="locks"),
    path(
        "transactions/locks/<int:pk>/release", transactions.Release.as_view(), name="lock-release"
    ),
    path("transactions/curators/", transactions.Curators.as_view(), name="curators"),
    path(
        "transactions/curators/hand_over",
        transactions.HandOver.as_view(),
        name="curators-hand-over",
    ),
    path("transactions/<int:pk>/", transactions.One.as_view(), name="transaction"),
    *[
        path(
            f"transactions/<int:pk>/{action}",
            transactions.Act.as_view(),
            {"action": action},
            name=f"transaction-{action}",
        )
        for action in transactions.Act.does
    ],
    path("documents/", documents.Documents.as_view(), name="documents"),
    path("documents/<id:collection>/<id:key>/", documents.One.as_view(), name="document"),
    path("theme", theme.choose_theme, name="theme"),
]
