"""The REST addresses of services, queues, schedules, jobs and operations."""

from django.urls import path

import atributo_site.rest.ids  # noqa: F401  registers <id:…>
from queues.api import batches, jobs, operations, queues, schedules, script_runs, services

QUEUE = "queues/<id:queue>"
BATCH = "batches/<id:batch_id>"
JOB = "jobs/<id:job_id>"
SCHEDULE = "schedules/<id:schedule>"

urlpatterns = [
    path("services", services.Services.as_view(), name="api-services"),
    path("services/configuration", services.Configuration.as_view(), name="api-configuration"),
    path("services/development", services.Development.as_view(), name="api-development"),
    path("services/scripts", services.Scripts.as_view(), name="api-scripts"),
    path("services/scripts/<id:name>", services.OneScript.as_view(), name="api-script"),
    path("services/runs/<id:key>", script_runs.OneRun.as_view(), name="api-script-run"),
    path("queues", queues.Queues.as_view(), name="api-queues"),
    path("queues/pause", queues.PauseAll.as_view(), {"queue": "pause"}, name="api-queues-pause"),
    path(
        "queues/resume", queues.ResumeAll.as_view(), {"queue": "resume"}, name="api-queues-resume"
    ),
    path(QUEUE, queues.OneQueue.as_view(), name="api-queue"),
    path(f"{QUEUE}/pause", queues.Pause.as_view(), name="api-queue-pause"),
    path(f"{QUEUE}/resume", queues.Resume.as_view(), name="api-queue-resume"),
    path(f"{QUEUE}/limits", queues.Limits.as_view(), name="api-queue-limits"),
    path(f"{QUEUE}/jobs", jobs.QueueJobs.as_view(), name="api-queue-jobs"),
    path(f"{QUEUE}/jobs/batch", jobs.Batch.as_view(), name="api-queue-jobs-batch"),
    path(f"{QUEUE}/jobs/cancel", jobs.Cancel.as_view(), name="api-queue-jobs-cancel"),
    path("schedules", schedules.Schedules.as_view(), name="api-schedules"),
    path("schedule-preview", schedules.Preview.as_view(), name="api-schedule-preview-rule"),
    path(SCHEDULE, schedules.OneSchedule.as_view(), name="api-schedule"),
    path(f"{SCHEDULE}/pause", schedules.Pause.as_view(), name="api-schedule-pause"),
    path(f"{SCHEDULE}/resume", schedules.Resume.as_view(), name="api-schedule-resume"),
    path(f"{SCHEDULE}/run", schedules.RunNow.as_view(), name="api-schedule-run"),
    path(f"{SCHEDULE}/runs", schedules.Runs.as_view(), name="api-schedule-runs"),
    path(f"{SCHEDULE}/backfill", schedules.Backfills.as_view(), name="api-schedule-backfill"),
    path(f"{SCHEDULE}/preview", schedules.ChangePreview.as_view(), name="api-schedule-preview"),
    path("batches", batches.Batches.as_view(), name="api-batches"),
    path(BATCH, batches.OneBatch.as_view(), name="api-batch"),
    path(f"{BATCH}/close", batches.Close.as_view(), name="api-batch-close"),
    path(f"{BATCH}/retry", batches.Retry.as_view(), name="api-batch-retry"),
    path(f"{BATCH}/abort", batches.Abort.as_view(), name="api-batch-abort"),
    path("operations", operations.Operations.as_view(), name="api-operations"),
    path("operations/<int:pk>", operations.OneOperation.as_view(), name="api-operation"),
    path("operations/<int:pk>/abort", operations.Abort.as_view(), name="api-operation-abort"),
    path("jobs", jobs.Jobs.as_view(), name="api-jobs"),
    path(JOB, jobs.OneJob.as_view(), name="api-job"),
    path(f"{JOB}/attempts", jobs.Attempts.as_view(), name="api-job-attempts"),
    path(f"{JOB}/links", batches.Links.as_view(), name="api-job-links"),
    path(f"{JOB}/abort", jobs.Abort.as_view(), name="api-job-abort"),
    path(f"{JOB}/retry", jobs.Retry.as_view(), name="api-job-retry"),
    path(f"{JOB}/pause", jobs.Pause.as_view(), name="api-job-pause"),
    path(f"{JOB}/resume", jobs.Resume.as_view(), name="api-job-resume"),
    path(f"{JOB}/run", jobs.RunNow.as_view(), name="api-job-run"),
]
