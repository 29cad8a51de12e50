"""Tasks of a shop, declared by the API's decorator and by ours."""

from importlib import import_module
from inspect import Parameter, signature

from queues.tasks import task as our_task
from queues.tasks.library import library, part

task = import_module(library()).task
takes_options = Parameter.VAR_KEYWORD in {each.kind for each in signature(task).parameters.values()}
task_with_options = task if takes_options else our_task  # Django 6.0 has no other keywords


class OutOfStock(Exception):
    """As a host has its own."""


@task()
def noop(*args, **kwargs):
    return None


@task
def meaning():
    return 42


@task(priority=60)
async def ameaning(number: int = 42):
    return number


@task(takes_context=True)
def attempts(context, wanted: int):
    result = context.task_result
    if context.attempt < wanted:
        raise OutOfStock("not yet")
    return [context.attempt, result.attempts, str(result.status), result.id == context.job["id"]]


@task_with_options(queue_name="mail", max_failures=1, back_off=0, sticky_key="printer")
def with_options(text):
    raise ValueError(text)


@our_task(max_failures=2, back_off=0, queue_name="mail", priority=-100)
def ours(text: str):
    raise OutOfStock(text)


@task
def returns_no_json():
    return object()


@task(takes_context=True)
def kind_of_context(context):
    is_known = isinstance(context, part("base").TaskContext)
    return [is_known, context.attempt, context.task_result.id == context.job["id"]]
