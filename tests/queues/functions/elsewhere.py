"""A module that no worker loads; reading it leaves a mark."""

from queues.tasks import task

READ = []
READ.append("read")


@task
def declared_elsewhere():
    return "elsewhere"


def undeclared():
    return "undeclared"
