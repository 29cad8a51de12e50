"""Measure what the search box answers on a full SQLite and PostgreSQL, keystroke by keystroke.

1,000,000 jobs, allocations, events and documents (BENCH_ROWS makes it smaller or larger). Goal: the
list below the box within 100 ms, however many rows there are. BENCH_DATABASES=sqlite measures one
of the two; BENCH_KEEP=FOLDER keeps the filled databases there for the next run.
"""

import os
import sys

from bench import screens

if __name__ == "__main__":
    os.environ["BENCH_PART"] = "search"
    sys.exit(screens.main())
