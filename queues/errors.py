"""Errors of queues, jobs, services and scripts."""

from atributo_site.core.errors import AtributoError


class WorkerNameTaken(AtributoError):
    """Two live workers must not share a name."""

    status_code = 409
    code = "worker_name_taken"


class QueueNotFound(AtributoError):
    status_code = 404
    code = "queue_not_found"


class JobNotFound(AtributoError):
    status_code = 404
    code = "job_not_found"


class InvalidJobId(AtributoError):
    status_code = 400
    code = "invalid_job_id"


class BadPush(AtributoError):
    """What was pushed cannot be stored, and nothing was."""

    status_code = 400
    code = "bad_push"


class BadPage(AtributoError):
    status_code = 400
    code = "bad_page"


class BadQueue(AtributoError):
    status_code = 400
    code = "bad_queue"


class DataRefused(AtributoError):
    """The data does not fit the script's schema."""

    status_code = 400
    code = "data_refused"


class JobIsRunning(AtributoError):
    status_code = 409
    code = "job_is_running"


class JobIsHeld(AtributoError):
    """Its worker holds it and does not answer: whether it begins is not known yet."""

    status_code = 409
    code = "job_is_held"


class JobRepeatsNot(AtributoError):
    """Only a job that will run again can be paused, and has a schedule to change."""

    status_code = 409
    code = "job_repeats_not"


class BadSchedule(AtributoError):
    """A schedule that is not possible: nothing is stored, and what was there stays."""

    status_code = 400
    code = "bad_schedule"


class ScheduleNotFound(AtributoError):
    status_code = 404
    code = "schedule_not_found"


class ScheduleExists(AtributoError):
    status_code = 409
    code = "schedule_exists"


class ScheduleHasEnded(AtributoError):
    """It expects no further run, so that it can be neither paused nor resumed."""

    status_code = 409
    code = "schedule_has_ended"


class JobIsTwice(AtributoError):
    """Another unfinished job has the same unique key."""

    status_code = 409
    code = "unique_key_taken"


class BadOperation(AtributoError):
    status_code = 400
    code = "bad_operation"


class OperationNotFound(AtributoError):
    status_code = 404
    code = "operation_not_found"


class BadBatch(AtributoError):
    """A batch that is not possible: nothing is stored."""

    status_code = 400
    code = "bad_batch"


class BatchNotFound(AtributoError):
    status_code = 404
    code = "batch_not_found"


class BatchIsClosed(AtributoError):
    """It takes no more jobs: its end may be decided at any moment."""

    status_code = 409
    code = "batch_is_closed"


class BadService(AtributoError):
    """A folder that cannot be installed; `errors` lists every reason."""

    status_code = 400
    code = "bad_service"


class BadMount(AtributoError):
    status_code = 400
    code = "bad_mount"


class ServiceNotFound(AtributoError):
    """Nothing is installed at this mount."""

    status_code = 404
    code = "service_not_found"


class MountTaken(AtributoError):
    status_code = 409
    code = "mount_taken"


class ScriptNotFound(AtributoError):
    status_code = 404
    code = "script_not_found"


class OptionsMissing(AtributoError):
    """A required option of a service has no value, so none of its scripts runs."""

    status_code = 409
    code = "options_missing"

    def __init__(self, mount: str, options: list[str]) -> None:
        named = f"the required option{'s' if len(options) > 1 else ''} {', '.join(options)}"
        super().__init__(
            f"service {mount} is missing {named}: none of its scripts run",
            mount=mount,
            options=options,
        )


class ScriptFailed(AtributoError):
    """A script that ran at once raised; its own status code is kept."""

    code = "script_failed"

    def __init__(self, message: str, status_code: int = 500, **facts: object) -> None:
        super().__init__(message, **facts)
        self.status_code = status_code


class NoWorker(AtributoError):
    """Scripts run at workers alone, and there is none."""

    status_code = 503
    code = "no_worker"


class ScriptStillRuns(AtributoError):
    """It goes on; `key` is where to look for the result."""

    status_code = 202
    code = "script_still_runs"

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message, key=key)
        self.key = key


class ScriptRunNotFound(AtributoError):
    status_code = 404
    code = "script_run_not_found"


class LifecycleScriptFailed(AtributoError):
    """Setup or teardown raised, so nothing was changed."""

    status_code = 422
    code = "lifecycle_script_failed"


class AttemptIsOver(AtributoError):
    """The attempt was lost, aborted or deleted; what it still does has no effect."""

    status_code = 409
    code = "attempt_is_over"


class NotInDryRun(AtributoError):
    """A dry run cannot roll this back, so it is not done."""

    status_code = 409
    code = "not_in_dry_run"
