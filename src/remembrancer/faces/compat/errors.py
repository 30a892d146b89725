"""Our errors as users of other libraries catch them: bad input is a `ValueError`, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...nouns.errors import InvalidInput, NotFound


class BadValue(InvalidInput, ValueError):
    """The caller's input cannot be taken; nothing was stored."""


class Missing(NotFound, ValueError):
    """What was named does not exist."""


@contextmanager
def as_value_errors() -> Iterator[None]:
    """Raise `InvalidInput` and `NotFound` as kinds of `ValueError`."""
    try:
        yield
    except (BadValue, Missing):
        raise
    except InvalidInput as error:
        raise BadValue(error.message, field=error.field, limit=error.limit) from None
    except NotFound as error:
        raise Missing(error.message, field=error.field, limit=error.limit) from None
