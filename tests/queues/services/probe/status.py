"""Says what its own row says while it runs."""


def run(context):
    from queues.models import QueuedJob

    return QueuedJob.objects.get(pk=context.job["id"]).status
