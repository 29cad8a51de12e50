"""Three workers, a curator, a Redis and a database of their own, and faults without end.

python -m tests.queues.storm --seconds 120 --faults 200 --database postgresql
"""
