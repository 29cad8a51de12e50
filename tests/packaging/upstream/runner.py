"""Run Django's tests for task backends on database test cases, with our backend in place of theirs.

    python runner.py FOLDER        the folder `tests` of an sdist of Django

prints one line per test: its name, and `passed`, `adapted`, `not applicable` or `failed`.
"""

import os
import sys
import unittest

import django
from django.conf import settings
from verdicts import ADAPTED, NOT_APPLICABLE


def replace_backends() -> None:
    """Let the names of Django's two backends, and of its test case without database, be ours."""
    import backends
    import django.tasks.backends.dummy
    import django.tasks.backends.immediate
    import django.test

    django.tasks.backends.dummy.DummyBackend = backends.WaitingBackend
    django.tasks.backends.immediate.ImmediateBackend = backends.WorkingBackend

    class DatabaseTestCase(django.test.TransactionTestCase):
        @classmethod
        def _fixture_setup(cls):
            super()._fixture_setup()
            _make_queues()

    django.test.SimpleTestCase = django.test.TransactionTestCase = DatabaseTestCase


def _make_queues() -> None:
    import queues
    from queues.functions.rows import store_all

    for name in ("default", "queue_1"):
        queues.create(name)
    store_all()


class Said(unittest.TestResult):
    """Print how each test ended."""

    def addSuccess(self, test):
        self._print(test, "adapted" if _name(test) in ADAPTED else "passed")

    def addSkip(self, test, reason):
        self._print(test, "not applicable")

    def addError(self, test, error):
        super().addError(test, error)
        self._print(test, "failed")
        print(f"{_name(test)}\n{self._exc_info_to_string(error, test)}", file=sys.stderr)

    def addFailure(self, test, error):
        self.addError(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addError(test, error)

    def _print(self, test, word):
        print(f"{_name(test)}: {word}", flush=True)


def _name(test: object) -> str:
    return ".".join(test.id().split(".")[-2:])


def main(folder: str) -> None:
    sys.path.insert(0, folder)
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # coroutines of the tests ask without await
    django.setup()
    replace_backends()
    from django.test.utils import get_runner

    runner = get_runner(settings, "django.test.runner.DiscoverRunner")(verbosity=0)
    runner.setup_test_environment()
    made = runner.setup_databases()
    try:
        found = unittest.defaultTestLoader.discover(f"{folder}/tasks", top_level_dir=folder)
        for each in _classes(found):
            each.available_apps = None
            _adapt(each)
        found.run(Said())
    finally:
        runner.teardown_databases(made)


def _adapt(kind: type) -> None:
    """Put what stands in `adapted` in the place of a test, and leave out what does not apply."""
    import adapted

    for name in unittest.defaultTestLoader.getTestCaseNames(kind):
        whole = f"{kind.__name__}.{name}"
        if whole in ADAPTED:
            setattr(kind, name, getattr(adapted, name))
        if whole in NOT_APPLICABLE:
            setattr(kind, name, unittest.skip(NOT_APPLICABLE[whole])(getattr(kind, name)))


def _classes(suite: unittest.TestSuite) -> set[type]:
    return {
        kind
        for each in suite
        for kind in (_classes(each) if isinstance(each, unittest.TestSuite) else {type(each)})
    }


if __name__ == "__main__":
    main(sys.argv[1])
