"""The screens of queues, jobs and services."""

from django.urls import path

import atributo_site.console.mounts
import atributo_site.rest.ids  # noqa: F401  registers <id:…>
from atributo_site.console import (
    job,
    job_asking,
    job_bulk,
    job_deeds,
    job_edit,
    job_failures,
    job_log,
    job_schedule,
    jobs,
    queue,
    queue_settings,
    queue_switches,
    queues,
    schedules,
    script,
    service,
    service_list,
)

QUEUE = "queues/<id:name>/"
JOB = "jobs/<id:job_id>/"
SERVICE = "services/<mount:mount>/"

urlpatterns = [
    path("queues/", queues.Queues.as_view(), name="queues"),
    path("queues/pause", queue_switches.PauseAll.as_view(), name="queues-pause"),
    path("queues/resume", queue_switches.ResumeAll.as_view(), name="queues-resume"),
    path(QUEUE, queue.OneQueue.as_view(), name="queue"),
    path(f"{QUEUE}pause", queues.Pause.as_view(), name="queue-pause"),
    path(f"{QUEUE}resume", queues.Resume.as_view(), name="queue-resume"),
    path(f"{QUEUE}scale", queue_settings.Scale.as_view(), name="queue-scale"),
    path(f"{QUEUE}step", queue_settings.Step.as_view(), name="queue-step"),
    path(f"{QUEUE}record-start", queue_settings.RecordStart.as_view(), name="queue-record-start"),
    path(f"{QUEUE}target-age", queue_settings.TargetAge.as_view(), name="queue-target-age"),
    path(f"{QUEUE}retention", queue_settings.Retention.as_view(), name="queue-retention"),
    path(f"{QUEUE}away", queue_settings.Away.as_view(), name="queue-away"),
    path(f"{QUEUE}delete", queues.Delete.as_view(), name="queue-delete"),
    path("jobs/", jobs.Jobs.as_view(), name="jobs"),
    path("jobs/failures/", job_failures.Failures.as_view(), name="jobs-failures"),
    path("jobs/bulk/", job_bulk.Bulk.as_view(), name="jobs-bulk"),
    path(JOB, job.Job.as_view(), name="job"),
    path(f"{JOB}log", job_log.Log.as_view(), name="job-log"),
    path(f"{JOB}retry", job_asking.Retry.as_view(), name="job-retry"),
    path(f"{JOB}abort", job_asking.Abort.as_view(), name="job-abort"),
    path(f"{JOB}pause", job_deeds.Pause.as_view(), name="job-pause"),
    path(f"{JOB}resume", job_deeds.Resume.as_view(), name="job-resume"),
    path(f"{JOB}run", job_deeds.RunNow.as_view(), name="job-run"),
    path(f"{JOB}delete", job_asking.Delete.as_view(), name="job-delete"),
    path(f"{JOB}edit/", job_edit.Edit.as_view(), name="job-edit"),
    path(f"{JOB}schedule/", job_schedule.Change.as_view(), name="job-schedule"),
    path("schedules/", schedules.Schedules.as_view(), name="schedules"),
    path("schedules/new/", schedules.New.as_view(), name="schedules-new"),
    path("services/", service_list.Services.as_view(), name="services"),
    path(SERVICE, service.OneService.as_view(), name="service"),
    path(f"{SERVICE}-/upgrade", service.Upgrade.as_view(), name="service-upgrade"),
    path(f"{SERVICE}-/configure", service.Configure.as_view(), name="service-configure"),
    path(f"{SERVICE}-/development", service.Development.as_view(), name="service-development"),
    path(f"{SERVICE}-/uninstall", service.Uninstall.as_view(), name="service-uninstall"),
    path(f"{SERVICE}-/scripts/<id:name>/", script.OneScript.as_view(), name="script"),
    path(f"{SERVICE}-/scripts/<id:name>/push", script.Push.as_view(), name="script-push"),
]
