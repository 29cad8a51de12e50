"""Map the addresses of the system screens."""

from django.urls import path

from atributo_site.console.system import health, operations, settings, tokens, users

OPERATION, TOKEN = "system/operations/<int:pk>/", "system/tokens/<int:token_id>/"
USER = "system/users/<int:pk>/"

urlpatterns = [
    path("system/", health.Health.as_view(), name="system"),
    path("system/integrity/", health.Integrity.as_view(), name="system-integrity"),
    path("system/processes/", health.Processes.as_view(), name="system-processes"),
    path("system/operations/", operations.Operations.as_view(), name="system-operations"),
    path(OPERATION, operations.OneOperation.as_view(), name="operation"),
    path(f"{OPERATION}abort", operations.AbortOperation.as_view(), name="operation-abort"),
    path("system/settings/", settings.Settings.as_view(), name="system-settings"),
    path("system/api/", settings.RestApi.as_view(), name="system-api"),
    path("system/tokens/", tokens.Tokens.as_view(), name="system-tokens"),
    path(f"{TOKEN}revoke", tokens.RevokeToken.as_view(), name="system-token-revoke"),
    path("system/users/", users.Users.as_view(), name="system-users"),
    path(USER, users.OneUser.as_view(), name="system-user"),
    path(f"{USER}disable", users.DisableUser.as_view(), name="system-user-disable"),
    path(f"{USER}enable", users.EnableUser.as_view(), name="system-user-enable"),
    path(f"{USER}reset", users.ResetPassword.as_view(), name="system-user-reset"),
    path(
        f"{USER}tokens/<int:token_id>/revoke",
        users.RevokeTheirToken.as_view(),
        name="system-user-token-revoke",
    ),
]
