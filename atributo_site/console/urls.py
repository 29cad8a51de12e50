"""The screens at /."""

from django.urls import include, path

from atributo_site.console import events, overview, search, system, theme, tokens

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
    path("", include("atributo_site.console.transaction_urls")),
    path("theme", theme.choose_theme, name="theme"),
]
