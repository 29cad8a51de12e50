"""The screens of queued jobs: lists, one job, actions, bulk actions, failures, schedules."""
