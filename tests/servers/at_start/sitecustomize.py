"""Python runs this first in every process that a test starts: PYTHONPATH names the folder.

The objects that a starting process makes stay, so collecting garbage finds nothing, and tests
start hundreds of processes.
"""

import gc

gc.set_threshold(100_000, 20, 50)
