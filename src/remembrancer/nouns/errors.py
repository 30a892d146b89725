"""Every error that leaves the house, typed once; each face maps them to its wire in one place."""

from __future__ import annotations


class RemembrancerError(Exception):
    """Base of all errors of this package.

    Attributes:
        code: a stable snake_case name for programs.
        message: what is wrong and how to mend it, for people.
        field: the input field at fault, as the caller spells it, or None.
        limit: the limit that was broken, or None.
    """

    code = "error"

    def __init__(
        self, message: str, *, field: str | None = None, limit: int | float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.limit = limit


class InvalidInput(RemembrancerError):
    """The caller's input cannot be taken; nothing was stored."""

    code = "invalid_input"


class TooLarge(InvalidInput):
    """The input breaks a size limit; nothing was stored."""

    code = "too_large"


class NotFound(RemembrancerError):
    """What was named does not exist (or not for this tenant)."""

    code = "not_found"


class Exhausted(RemembrancerError):
    """A bound on how much may be under way at once is reached; try again later."""

    code = "exhausted"


class Conflict(RemembrancerError):
    """The write met another state than the caller expected."""

    code = "conflict"


class Unauthenticated(RemembrancerError):
    """No API key came with the call, or one that is not valid."""

    code = "unauthenticated"


class Forbidden(RemembrancerError):
    """The key that came with the call does not permit it."""

    code = "permission_denied"


class RateLimited(RemembrancerError):
    """The key has used up its calls for now.

    Attributes:
        retry_after_s: seconds until one more is taken.
    """

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Overloaded(Exhausted):
    """There is too much to do; the same call may succeed later.

    Attributes:
        retry_after_s: seconds after which it is worth another try.
    """

    code = "overloaded"

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DeadlineExceeded(RemembrancerError):
    """The time that the caller, or the server, gives a call is over; the work was ended.

    What a call changes in several steps may be changed in part: call again with the same names.
    """

    code = "deadline_exceeded"


class StoreError(RemembrancerError):
    """The data folder or database cannot be used as it is."""

    code = "store_error"


class StoreRefused(StoreError):
    """The database has refused a query, in words of its own; they may quote what was said."""


class StoreFull(StoreError):
    """There is no room left on the store's disk; the same call succeeds once there is."""

    code = "store_full"


class StoreBusy(StoreError):
    """Another process holds the store for longer than the caller will wait."""

    code = "store_busy"


class StoreUnreachable(StoreBusy):
    """The database server cannot be reached now; the same call may succeed later."""

    code = "store_unreachable"


class StoreTooNew(StoreError):
    """The data was written by a newer version of Remembrancer."""

    code = "store_too_new"


class ModelMismatch(RemembrancerError):
    """The store's vectors come from another embedding model than the one configured."""

    code = "model_mismatch"


class ModelUnavailable(RemembrancerError):
    """A configured model cannot be loaded or reached."""

    code = "model_unavailable"


class Corrupt(StoreError):
    """Data on disk does not read back as it was written."""

    code = "corrupt"


class BudgetSpent(RemembrancerError):
    """What a language model may use is used up; nothing is lost, the work waits or goes without.

    Attributes:
        resumes_at: when there is budget again (microseconds); None: not by waiting.
    """

    code = "budget_spent"

    def __init__(self, message: str, *, resumes_at: int | None) -> None:
        super().__init__(message)
        self.resumes_at = resumes_at
