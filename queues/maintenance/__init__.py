"""What the curator does for queues: recover lost runs, forget old rows, move jobs of absent
instances, check rules.
"""
