"""Check single fields with the library that will use their values."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError

from pools.address_policy import check_nameservers
from pools.logic.dns.names import dns_name
from pools.logic.errors import InvalidInput
from pools.logic.recovery import RecoverySpec

MOST_NAMESERVERS = 16
LONGEST_LOOK_UP_MS = 60_000


def target_name(value: str) -> None:
    _refusing(dns_name, value)


def recovery_spec(value: Any) -> None:
    _refusing(RecoverySpec, value)
    for operation, fields in value.items():
        timeout = fields["timeout"]
        if timeout > LONGEST_LOOK_UP_MS:
            raise ValidationError(f"recovery.{operation}.timeout is above a minute: {timeout}")
        if fields["retries"] > 100:
            raise ValidationError(f"recovery.{operation}.retries is above 100")


def nameserver_list(value: Any) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValidationError("A list of addresses, each with or without :PORT, or one name.")
    if len(value) > MOST_NAMESERVERS:
        raise ValidationError(f"At most {MOST_NAMESERVERS} nameservers.")
    _refusing(check_nameservers, value)


def _refusing(check: Callable[[Any], Any], value: Any) -> None:
    try:
        check(value)
    except (InvalidInput, TypeError) as error:
        raise ValidationError(str(error)) from error
