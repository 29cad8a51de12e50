"""The walks push jobs of the probe service and watch real processes do the work."""

from tests.queues.conftest import *  # noqa: F403
