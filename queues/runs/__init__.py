"""The life of a run: slots, reservation, attempt, outcome, and the doorbell that wakes workers."""
