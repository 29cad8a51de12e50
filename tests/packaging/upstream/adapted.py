"""What stands in the place of tests that cannot pass as they are; `verdicts` says why."""

from asgiref.sync import sync_to_async
from django.tasks import TaskResultStatus, default_task_backend

from queues.testing import run_due


def test_refresh_result(self):
    result = default_task_backend.enqueue(_tasks().calculate_meaning_of_life, (), {})
    run_due()
    self.assertEqual(result.status, TaskResultStatus.READY)
    result.refresh()
    self.assertEqual(result.status, TaskResultStatus.SUCCESSFUL)


async def test_refresh_result_async(self):
    result = await default_task_backend.aenqueue(_tasks().calculate_meaning_of_life, (), {})
    await sync_to_async(run_due)()
    self.assertEqual(result.status, TaskResultStatus.READY)
    await result.arefresh()
    self.assertEqual(result.status, TaskResultStatus.SUCCESSFUL)


def test_complex_return_value(self):
    with self.assertLogs("django.tasks", level="ERROR"):
        result = _tasks().complex_return_value.enqueue()
    self.assertEqual(result.status, TaskResultStatus.FAILED)
    self.assertLessEqual(result.enqueued_at, result.started_at)
    self.assertLessEqual(result.started_at, result.finished_at)
    self.assertIsNone(result._return_value)
    self.assertEqual(result.errors[0].exception_class, TypeError)
    self.assertIn("not JSON serializable", result.errors[0].traceback)


def _tasks():
    """Return Django's own tasks; they are read when our backend has taken its place."""
    from tasks import tasks

    return tasks
