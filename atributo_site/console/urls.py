"""The screens at /."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:…>
from atributo_site.console import (
    events,
    jobs,
    overview,
    queues,
    scripts,
    search,
    system,
    theme,
    tokens,
)

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
    path("queues/", queues.Queues.as_view(), name="queues"),
    path("queues/<id:name>/", queues.Queue.as_view(), name="queue"),
    path("queues/<id:name>/pause", queues.Pause.as_view(), name="queue-pause"),
    path("queues/<id:name>/resume", queues.Resume.as_view(), name="queue-resume"),
    path("queues/<id:name>/scale", queues.Scale.as_view(), name="queue-scale"),
    path("queues/<id:name>/delete", queues.Delete.as_view(), name="queue-delete"),
    path("jobs/", jobs.Jobs.as_view(), name="jobs"),
    path("jobs/failures/", jobs.Failures.as_view(), name="job-failures"),
    path("jobs/bulk", jobs.Bulk.as_view(), name="jobs-bulk"),
    path("jobs/<id:job_id>/", jobs.Job.as_view(), name="job"),
    path("jobs/<id:job_id>/abort", jobs.AbortJob.as_view(), name="job-abort"),
    path("jobs/<id:job_id>/retry", jobs.RetryJob.as_view(), name="job-retry"),
    path("jobs/<id:job_id>/run", jobs.RunJobNow.as_view(), name="job-run"),
    path("jobs/<id:job_id>/push", jobs.PushAgain.as_view(), name="job-push"),
    path("services/", scripts.Services.as_view(), name="services"),
    path("services/<id:mount>/", scripts.OneService.as_view(), name="service"),
    path("services/<id:mount>/uninstall", scripts.Uninstall.as_view(), name="service-uninstall"),
    path(
        "services/<id:mount>/development",
        scripts.DevelopmentMode.as_view(),
        name="service-development",
    ),
    path("services/<id:mount>/<id:name>", scripts.RunScript.as_view(), name="script"),
    path("theme", theme.choose_theme, name="theme"),
]
