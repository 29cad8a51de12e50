"""Map the addresses of the screens of jobs."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.jobs import actions, bulk, detail, edit, failures, list, repetition

JOB = "jobs/<id:job_id>/"

urlpatterns = [
    path("jobs/", list.Jobs.as_view(), name="jobs"),
    path("jobs/failures/", failures.Failures.as_view(), name="jobs-failures"),
    path("jobs/bulk/", bulk.Bulk.as_view(), name="jobs-bulk"),
    path(JOB, detail.Job.as_view(), name="job"),
    path(f"{JOB}log", detail.Log.as_view(), name="job-log"),
    path(f"{JOB}retry", actions.Retry.as_view(), name="job-retry"),
    path(f"{JOB}abort", actions.Abort.as_view(), name="job-abort"),
    path(f"{JOB}pause", actions.Pause.as_view(), name="job-pause"),
    path(f"{JOB}resume", actions.Resume.as_view(), name="job-resume"),
    path(f"{JOB}run", actions.RunNow.as_view(), name="job-run"),
    path(f"{JOB}delete", actions.Delete.as_view(), name="job-delete"),
    path(f"{JOB}edit/", edit.Edit.as_view(), name="job-edit"),
    path(f"{JOB}schedule/", repetition.Change.as_view(), name="job-schedule"),
]
