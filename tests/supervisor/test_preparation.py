"""The supervisor lets a child prepare the installation, and learns how that went."""

import os

import pytest
from django.core.management import CommandError
from django.db import OperationalError

from atributo_site.core.errors import AtributoError
from atributo_site.supervisor.preparation import NotPrepared, in_a_child


class Refused(AtributoError):
    pass


def failing(error):
    raise error


@pytest.mark.django_db(transaction=True)
def test_another_process_does_it_and_its_result_comes_back():
    child, answer = in_a_child(lambda: [os.getpid(), {"name": "admin"}])
    assert child != os.getpid()
    assert answer == {"name": "admin"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Refused("the disk is full"), "the disk is full"),
        (CommandError("no such table"), "no such table"),
        (OperationalError("server is away"), "server is away"),
        (ZeroDivisionError("a mistake"), "ZeroDivisionError: a mistake"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_what_went_wrong_is_said(error, said):
    with pytest.raises(NotPrepared, match=said):
        in_a_child(lambda: failing(error))


@pytest.mark.django_db(transaction=True)
def test_a_child_that_is_killed_has_prepared_nothing():
    with pytest.raises(NotPrepared, match="killed"):
        in_a_child(lambda: os.kill(os.getpid(), 9))
