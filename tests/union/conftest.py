"""What tests of several rooms share with the tests of one."""

from tests.queues.conftest import *  # noqa: F403
