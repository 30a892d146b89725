"""The Store protocol's sealing over SQL."""

from __future__ import annotations

from typing import cast

from ...nouns.errors import InvalidInput
from ...nouns.memory import BankRef
from ..sealing import Sealer, SealProgress
from . import sealing_upkeep
from .calls import Calls
from .db import Db
from .sealing_db import SealingDb
from .sealing_upkeep import Step
from .vault import Vault

_BANKS = 500
_BEFORE_ALL = -(1 << 63)


class SealingCalls(Calls):
    """See `keeping.sealing.SealedStore`."""

    _sealer: Sealer | None
    _vault: Vault | None

    @property
    def seals(self) -> bool:
        """Whether it seals what it writes."""
        return self._sealer is not None

    async def seal_all(self, progress: SealProgress | None = None) -> int:
        """Seal what was written before; return how many rows were."""
        self._needed()
        total, done, sealed = await self._read(sealing_upkeep.count), 0, 0
        last = _BEFORE_ALL
        while banks := await self._read(sealing_upkeep.banks_after, last, _BANKS):
            for bank in banks:
                if not bank.named:
                    sealed += await self._seal_names(bank.key)
                step: Step | None = sealing_upkeep.first_step()
                while step is not None:
                    looked, more, step = await self._write(_more, bank.key, step)
                    done, sealed = done + looked, sealed + more
                    if progress is not None:
                        progress(done, max(total, done))
            last = banks[-1].key
        return sealed

    async def rewrap_keys(self) -> int:
        """Wrap each data key by the newest key; return how many were."""
        return await self._write(sealing_upkeep.rewrap, self._needed())

    async def tenant_key_erase(self, tenant: str) -> bool:
        """Delete a tenant's data key."""
        gone = await self._write(sealing_upkeep.erase, tenant)
        if self._vault is not None:
            self._vault.forget()
        return gone

    async def tenant_banks(self, tenant: str, limit: int = 1_000) -> list[BankRef]:
        """Return banks of a tenant, without opening anything."""
        names = await self._read(sealing_upkeep.banks_of, tenant, limit)
        return [BankRef(tenant, name) for name in names]

    async def _seal_names(self, key: int) -> int:
        try:
            return await self._write(_names, key)
        except BaseException:
            if self._vault is not None:
                self._vault.forget()  # it may take the bank for sealed
            raise

    def _needed(self) -> Sealer:
        if self._sealer is None:
            raise InvalidInput(
                "this store does not seal: set REMEMBRANCER_ENCRYPTION_KEY or "
                "REMEMBRANCER_ENCRYPTION_KEY_FILE (`remembrancer encryption-key` makes a key)",
                field="encryption_key",
            )
        return self._sealer


def _names(db: Db, key: int) -> int:
    return sealing_upkeep.seal_names(cast(SealingDb, db), key)


def _more(db: Db, key: int, step: Step) -> tuple[int, int, Step | None]:
    return sealing_upkeep.seal_more(cast(SealingDb, db), key, step)
