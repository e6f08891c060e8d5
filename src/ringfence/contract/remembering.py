"""A value that is worked out when it is first asked for, and is an ordinary attribute from then on.

Takes: a method without arguments.  Gives: a descriptor.  Never: keeps what a method raised.

The standard `cached_property` takes a lock at the first look, and gives every object a dictionary of its own; both are
felt where one of many objects is looked at, or a new one is made for every call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value_co = TypeVar("Value_co", covariant=True)


class remembered(Generic[Value_co]):
    """For values that do not change: two threads that ask at once both work it out, to the same end."""

    def __init__(self, work: Callable[[Any], Value_co]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value_co: ...

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | Value_co:
        if instance is None:
            return self
        value = self._work(instance)
        object.__setattr__(instance, self._name, value)
        return value
