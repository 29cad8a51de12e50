"""Python runs this first in every process that a test starts: PYTHONPATH names the folder.

A process that starts makes objects that stay; looking through them again and again finds
nothing, and hundreds of processes are started.
"""

import gc

gc.set_threshold(100_000, 20, 50)
