try:
    from django.tasks import task as task_of_django
except ImportError:
    from django_tasks import task as task_of_django

from queues.tasks import task


@task(max_failures=1)
def greet(name: str) -> str:
    return f"Hello {name}"


@task_of_django
def shout(text):
    return text.upper()
