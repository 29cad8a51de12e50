"""Let callers name arguments as the libraries before this one did."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Call = TypeVar("Call", bound=Callable[..., Any])


def also_named(**others: str) -> Callable[[Call], Call]:
    """Take an argument by another name, too: `also_named(value="body")` for `put(…, value=1)`."""

    def decorate(call: Call) -> Call:
        @wraps(call)
        def renamed(*args: Any, **named: Any) -> Any:
            for other in others.keys() & named.keys():
                ours = others[other]
                if ours in named:
                    raise TypeError(f"{call.__name__}() got {other} and {ours}, which is the same")
                named[ours] = named.pop(other)
            return call(*args, **named)

        return renamed  # type: ignore[return-value]

    return decorate
