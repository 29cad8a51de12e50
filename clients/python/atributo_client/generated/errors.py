"""The errors of the rooms, by the names of the server. Written by `python -m tests.clients.generate`; change nothing here."""

from atributo_client.failures import AtributoError


class AllocatorError(AtributoError):
    """An allocator answered with something that is no available instance."""

    code = "allocator_error"


class AskedTooOften(AtributoError):
    """The name was looked up, or is being looked up, within its TTL floor."""

    code = "asked_too_often"


class AttemptIsOver(AtributoError):
    """The attempt was lost, aborted or deleted; what it still does has no effect."""

    code = "attempt_is_over"


class BadBatch(AtributoError):
    """A batch that is not possible: nothing is stored."""

    code = "bad_batch"


class BadMount(AtributoError):
    code = "bad_mount"


class BadNumbering(AtributoError):
    """The worker number or the cluster size cannot be used here."""

    code = "bad_numbering"


class BadOperation(AtributoError):
    code = "bad_operation"


class BadPage(AtributoError):
    code = "bad_page"


class BadPush(AtributoError):
    """What was pushed cannot be stored, and nothing was."""

    code = "bad_push"


class BadQueue(AtributoError):
    code = "bad_queue"


class BadSchedule(AtributoError):
    """A schedule that is not possible: nothing is stored, and what was there stays."""

    code = "bad_schedule"


class BadService(AtributoError):
    """A folder that cannot be installed; `errors` lists every reason."""

    code = "bad_service"


class BatchIsClosed(AtributoError):
    """It takes no more jobs: its end may be decided at any moment."""

    code = "batch_is_closed"


class BatchNotFound(AtributoError):
    code = "batch_not_found"


class CannotLookUp(AtributoError):
    """What was asked for makes no sense, or is not permitted here."""

    code = "cannot_look_up"


class Closed(AtributoError):
    """The object was closed."""

    code = "closed"


class CollectionKeyIsLocked(AtributoError):
    """Another transaction holds the key."""

    code = "locked"


class DataRefused(AtributoError):
    """The data does not fit the script's schema."""

    code = "data_refused"


class DatabaseBusy(AtributoError):
    """The database stayed busy until the deadline; the caller may try again."""

    code = "database_busy"


class DocumentNotFound(AtributoError):
    code = "document_not_found"


class EpochChanged(AtributoError):
    """The row was changed after the caller read it."""

    code = "epoch_changed"


class FailedToComplete(AtributoError):
    """Nothing is or will be committed, unless `in_doubt`: then the database did not answer."""

    code = "failed_to_complete"


class FailedToRollBack(AtributoError):
    """The rollback itself failed; the curator finishes it."""

    code = "failed_to_roll_back"


class ForeignTransaction(AtributoError):
    """Another caller began the transaction, or a program of the site."""

    code = "foreign_transaction"


class InstanceHeld(AtributoError):
    """Jobs or other users still hold the instance."""

    code = "instance_held"


class InvalidDocument(AtributoError):
    """The name, value, patch or query cannot be used."""

    code = "invalid_document"


class InvalidId(AtributoError):
    """A text that cannot name a job or an instance."""

    code = "invalid_id"


class InvalidJobId(AtributoError):
    """The text is not a job id of this format."""

    code = "invalid_job_id"


class InvalidSetting(AtributoError):
    """No instance can have this setting, reason or pace."""

    code = "invalid_wish"


class JobIsHeld(AtributoError):
    """Its worker holds it and does not answer: whether it begins is not known yet."""

    code = "job_is_held"


class JobIsRunning(AtributoError):
    code = "job_is_running"


class JobIsTwice(AtributoError):
    """Another unfinished job has the same unique key."""

    code = "unique_key_taken"


class JobNotFound(AtributoError):
    code = "job_not_found"


class JobRepeatsNot(AtributoError):
    """Only a job that will run again can be paused, and has a schedule to change."""

    code = "job_repeats_not"


class JournalDamaged(AtributoError):
    """A line of the journal cannot be trusted, so nothing is restored by it."""

    code = "journal_damaged"


class KeyInProgress(AtributoError):
    """The first request with this key has not been answered yet."""

    code = "idempotency_key_in_progress"


class KeyIsContended(AtributoError):
    """Others change the key faster than the reason of a refusal can be read."""

    code = "key_is_contended"


class KeyReused(AtributoError):
    """The same key came with another request."""

    code = "idempotency_key_reused"


class LeaseLost(AtributoError):
    """The lease has expired or somebody else has it: the caller may change nothing more."""

    code = "lease_lost"


class LifecycleScriptFailed(AtributoError):
    """Setup or teardown raised, so nothing was changed."""

    code = "lifecycle_script_failed"


class LockNotFound(AtributoError):
    code = "lock_not_found"


class LookUpsBusy(AtributoError):
    """As many look-ups are under way as this process allows."""

    code = "look_ups_busy"


class MountTaken(AtributoError):
    code = "mount_taken"


class NoInstances(AtributoError):
    """No instance is available, or none has room; nothing was stored."""

    code = "no_instances"


class NoJobIdYet(AtributoError):
    """The same call may succeed in `wait_seconds`."""

    code = "error"


class NoStreamLeft(AtributoError):
    """This process has as many streams as it may."""

    code = "no_stream_left"


class NoSuchToken(AtributoError):
    """The token does not exist, or it belongs to somebody else."""

    code = "no_such_token"


class NoWorker(AtributoError):
    """Scripts run at workers alone, and there is none."""

    code = "no_worker"


class NobodyIsActive(AtributoError):
    code = "nobody_is_active"


class NotDraining(AtributoError):
    """There is no drain of this instance to stop, to force or to watch."""

    code = "not_draining"


class NotInDryRun(AtributoError):
    """A dry run cannot roll this back, so it is not done."""

    code = "not_in_dry_run"


class NotPossibleNow(AtributoError):
    """The transaction is over, or somebody else is rolling it back."""

    code = "not_possible_now"


class NotRebalancing(AtributoError):
    """There is no rebalance to stop."""

    code = "not_rebalancing"


class OperationNotFound(AtributoError):
    code = "operation_not_found"


class OptionsMissing(AtributoError):
    """A required option of a service has no value, so none of its scripts runs."""

    code = "options_missing"


class Outranked(AtributoError):
    """A person decided otherwise, and programs do not undo that."""

    code = "outranked"


class PoolChanged(AtributoError):
    """Somebody changed the pool since the caller looked."""

    code = "epoch_changed"


class PoolExists(AtributoError):
    code = "pool_exists"


class PoolPaused(AtributoError):
    """Nobody looks up a name that is paused."""

    code = "pool_paused"


class PreconditionFailed(AtributoError):
    """The object has changed since the caller read it."""

    code = "precondition_failed"


class QueueNotFound(AtributoError):
    code = "queue_not_found"


class ReasonMissing(AtributoError):
    code = "reason_missing"


class Rebalancing(AtributoError):
    """A rebalance runs already."""

    code = "rebalancing"


class RollbackCausedByException(AtributoError):
    """The transaction was rolled back because one of its operations failed."""

    code = "rolled_back_by_error"


class ScheduleExists(AtributoError):
    code = "schedule_exists"


class ScheduleHasEnded(AtributoError):
    """It expects no further run, so that it can be neither paused nor resumed."""

    code = "schedule_has_ended"


class ScheduleNotFound(AtributoError):
    code = "schedule_not_found"


class ScriptFailed(AtributoError):
    """A script that ran at once raised; its own status code is kept."""

    code = "script_failed"


class ScriptNotFound(AtributoError):
    code = "script_not_found"


class ScriptRunNotFound(AtributoError):
    code = "script_run_not_found"


class ScriptStillRuns(AtributoError):
    """It goes on; `key` is where to look for the result."""

    code = "script_still_runs"


class SecretField(AtributoError):
    """The search would reveal what the caller may not read."""

    code = "secret_field"


class ServiceNotFound(AtributoError):
    """Nothing is installed at this mount."""

    code = "service_not_found"


class TokenRefused(AtributoError):
    """A token that cannot be made with these settings."""

    code = "token_refused"


class TooManyStreams(AtributoError):
    """One user has too many streams open."""

    code = "too_many_streams"


class TooManyTokens(AtributoError):
    """The user has as many tokens as allowed."""

    code = "too_many_tokens"


class TransactionIsOver(AtributoError):
    """The transaction cannot be used any more."""

    code = "transaction_is_over"


class TransactionNotFound(AtributoError):
    code = "transaction_not_found"


class UnknownBackend(AtributoError):
    code = "unknown_backend"


class UnknownInstance(AtributoError):
    code = "unknown_instance"


class UnknownJob(AtributoError):
    """The key is allocated to no instance."""

    code = "unknown_job"


class UnknownPool(AtributoError):
    code = "unknown_pool"


class UnknownPosition(AtributoError):
    """The changes after this position are not (or no longer) known here."""

    code = "unknown_position"


class WorkerNameTaken(AtributoError):
    """Two live workers must not share a name."""

    code = "worker_name_taken"


class DeadlockDetected(CollectionKeyIsLocked):
    """Transactions wait for each other in a circle, and this one gives way."""

    code = "deadlock"


class JobIsCompleted(TransactionIsOver):
    code = "transaction_is_completed"


class JobIsFailed(TransactionIsOver):
    code = "transaction_is_failed"


class JobIsRolledBack(TransactionIsOver):
    code = "transaction_is_rolled_back"


class JobIsTimedOut(TransactionIsOver):
    code = "transaction_is_timed_out"


class NoInstanceAvailable(NoInstances):
    """No available instance has the labels that the job asks for; nothing was stored."""

    code = "no_instance_available"


class NoWorkerNumber(NoJobIdYet):
    """Every worker number for job ids is taken."""

    code = "no_worker_number"


class TakenOver(TransactionIsOver):
    """Somebody else rolls this transaction back now."""

    code = "transaction_taken_over"


class TooManyJobIds(NoJobIdYet):
    """This process has made ids so far ahead of the clock that it must wait for it."""

    code = "too_many_job_ids"


class ConnectionLost(AtributoError):
    """The connection is lost; nothing was written unless `in_doubt`. The next call reconnects."""

    code = "connection_lost"


class DatabaseRefused(ConnectionLost):
    """The database does not exist, or it does not let this user in: to try again is no use."""

    code = "database_refused"
