"""Who calls: the tenant, what the key permits, which banks it reaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from .errors import Forbidden
from .memory import DEFAULT_TENANT, BankRef
from .names import bank_ref


class Permission(StrEnum):
    """What a key may do. None of them implies another one."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"  # of the tenant: its keys, the settings of its banks
    CROSS_TENANT = "cross_tenant"  # name another tenant; see figures of all


EVERYTHING = frozenset(Permission)


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket: so many requests a second, and so many at once after a pause."""

    per_second: float
    burst: float


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from.

    Attributes:
        tenant: whose data it works on.
        permissions: what it may do.
        banks: patterns as of a shell (`*`, `?`, `[a-z]`) of the banks it reaches; empty: all.
        max_tier_rank: the highest tier rank of intentions that it sees; None: no ceiling.
        key_id: of the API key; None when no key was asked for.
        name: of the key.
        expires_at: of the key, in microseconds.
        rates: the key's own limits by class (read, write, admin), where it has some.
        digest: hash of the secret that it came with, since a key may have had several.
    """

    tenant: str = DEFAULT_TENANT
    permissions: frozenset[Permission] = EVERYTHING
    banks: tuple[str, ...] = ()
    max_tier_rank: float | None = None
    key_id: str | None = None
    name: str | None = None
    expires_at: int | None = None
    rates: Mapping[Permission, Rate] = field(default_factory=dict)
    digest: str | None = field(default=None, repr=False, compare=False)

    def may(self, permission: Permission) -> bool:
        """Return whether it has a permission."""
        return permission in self.permissions

    def reaches(self, bank: str) -> bool:
        """Return whether it may use a bank of its tenant, by name."""
        return not self.banks or any(fnmatchcase(bank, pattern) for pattern in self.banks)

    @property
    def reaches_all(self) -> bool:
        """Whether it may use every bank of its tenant."""
        return not self.banks or "*" in self.banks

    def bank(self, name: str, field: str = "bank") -> BankRef:
        """Return the bank of a name in the caller's tenant.

        Raises:
            InvalidInput: no bank can have the name.
            Forbidden: the key does not reach it.
        """
        ref = bank_ref(name, field, self.tenant)
        if not self.reaches(ref.bank):
            raise Forbidden(
                f"this key reaches banks named {', '.join(self.banks)} alone, and not {name!r}",
                field=field,
            )
        return ref

    def needs(self, permission: Permission) -> None:
        """Check a permission.

        Raises:
            Forbidden: it is not there.
        """
        if permission not in self.permissions:
            raise Forbidden(
                f"insufficient permissions: requires {permission}; ask an administrator for a key "
                "that has it"
            )
