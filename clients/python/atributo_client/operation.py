"""Methods that are written once as flows: plain ones of a Client, coroutines of an AsyncClient."""

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from atributo_client.shells import AsyncShell, Shell
from atributo_client.steps import Flow

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound=Shell | AsyncShell, covariant=True)


class Group(Generic[S]):
    """Operations that belong together, and the shell that carries them out."""

    def __init__(self, shell: S) -> None:
        self._shell = shell


class Operation(Generic[P, T]):
    """A descriptor: the shell of its group says whether the method has to be awaited."""

    def __init__(
        self, describe: Callable[Concatenate[Any, P], Flow[T]], ids: tuple[str, ...]
    ) -> None:
        self.describe = describe
        self.ids = ids
        self.__doc__ = describe.__doc__
        self.__name__ = describe.__name__

    @overload
    def __get__(self, group: None, kind: Any) -> "Operation[P, T]": ...
    @overload
    def __get__(self, group: Group[Shell], kind: Any) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, group: Group[AsyncShell], kind: Any
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, group: Any, kind: Any = None) -> Any:
        if group is None:
            return self

        def method(*arguments: P.args, **options: P.kwargs) -> Any:
            return group._shell.run(self.describe(group, *arguments, **options))

        method.__name__, method.__doc__ = self.__name__, self.__doc__
        return method


def operation(
    *ids: str,
) -> Callable[[Callable[Concatenate[Any, P], Flow[T]]], Operation[P, T]]:
    """Mark a flow as a method; `ids` are the operationIds of the OpenAPI document it covers."""

    def mark(describe: Callable[Concatenate[Any, P], Flow[T]]) -> Operation[P, T]:
        return Operation(describe, ids)

    return mark
