"""Erases a person, a bank or a tenant from the command line, and writes receipts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from ...nouns.errors import InvalidInput
from .output import progress_bar, remark, results, write_json
from .session import with_app
from .sweep import Swept, tell_swept

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.memory import BankRef
    from ...settings import Settings
    from ...verbs.erase import Erased

_FORMAT = "remembrancer-receipt"
_Shaped: TypeAlias = "tuple[dict[str, Any], Swept]"
_DROP = "delete that folder of the index"
_COPIES = "copies made by backup or export, and archives fetched, are not reached by this"


def erase_tenant(
    settings: Settings, tenant: str, receipt: Path | None, *, ask: bool, json: bool
) -> None:
    """Erase a tenant's data key and then its banks; write the receipt.

    Raises:
        NotFound: there is no such tenant.
        InvalidInput: nobody is there to confirm, or the receipt's place is taken.
    """
    if receipt is not None and receipt.expanduser().exists():
        raise InvalidInput(f"{receipt} is there already: name another file", field="receipt")
    what = f"everything of tenant {tenant}"
    if ask:
        _confirm(what)

    async def work(app: App) -> _Shaped:
        from ...verbs.erase import Erase  # noqa: PLC0415

        verb = Erase(app.store, app.forget, app.banks, app.remind, clock=app.clock)
        done = await verb.tenant(tenant)
        with progress_bar("removing from disk"):
            swept = await _sweep_all(app, done.banks)
        return {**_shape(None, None, done, swept), "tenant": tenant}, swept

    _erased(settings, work, what, receipt, json=json)


def _confirm(what: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput("nobody is here to confirm: add --yes", field="yes")
    typer.confirm(f"Forget {what} for good?", abort=True)


def erase(
    settings: Settings,
    bank: str,
    entity: str | None,
    receipt: Path | None,
    *,
    ask: bool,
    json: bool,
) -> None:
    """Erase what mentions an entity, or (None) a whole bank; write the receipt.

    Raises:
        NotFound: there is no such entity or bank.
        InvalidInput: nobody is there to confirm, or the receipt's place is taken.
    """
    if receipt is not None and receipt.expanduser().exists():
        raise InvalidInput(f"{receipt} is there already: name another file", field="receipt")
    what = f"everything in bank {bank}" if entity is None else f"all that mentions {entity}"
    if ask:
        _confirm(what)

    async def work(app: App) -> _Shaped:
        from ...nouns.names import bank_ref  # noqa: PLC0415
        from ...verbs.erase import Erase  # noqa: PLC0415

        ref = bank_ref(bank)
        verb = Erase(app.store, app.forget, app.banks, app.remind, clock=app.clock)
        if entity is None:
            done = await verb.bank(ref)
        else:
            done = await verb.person(ref, await app.entities.which(ref, entity))
        with progress_bar("removing from disk"):
            swept = await _sweep(app, ref, done)
        return _shape(bank, entity, done, swept), swept

    _erased(settings, work, what, receipt, json=json)


def _erased(
    settings: Settings,
    work: Callable[[App], Awaitable[_Shaped]],
    what: str,
    receipt: Path | None,
    *,
    json: bool,
) -> None:
    """Do what erases, write the receipt, and tell of it."""
    shape, swept = with_app(settings, work)
    if receipt is not None:
        write_receipt(receipt, shape)
    if json:
        write_json(shape)
    else:
        _show(shape, what)
    tell_swept(settings, swept, quiet=json)


def write_receipt(place: Path, shape: Mapping[str, Any]) -> None:
    """Write a receipt to a new file that only its owner may read."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(place.expanduser(), flags, 0o600), "w", encoding="utf-8") as file:
        file.write(json.dumps(shape, ensure_ascii=False, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())


async def _sweep(app: App, ref: BankRef, done: Erased) -> Swept:
    from .sweep import sweep_now  # noqa: PLC0415

    return await _sweep_all(app, done.banks) if done.whole else await sweep_now(app, ref)


async def _sweep_all(app: App, banks: Sequence[BankRef]) -> Swept:
    from ...nouns.errors import RemembrancerError, StoreBusy  # noqa: PLC0415

    try:  # what is wrong is told after the receipt is written
        await app.store.sweep(app.clock.now_us())
        for ref in banks:  # those that could not go with their banks
            await app.indexes.drop(ref)
    except StoreBusy:
        return Swept(done=False)
    except RemembrancerError as error:
        return Swept(False, error.message, then="the next `forget` removes them, too")
    except OSError as error:
        return Swept(False, f"{error.filename}: {error.strerror}", then=_DROP)
    return Swept(done=True)


def _shape(bank: str | None, entity: str | None, done: Erased, swept: Swept) -> dict[str, Any]:
    from ...nouns.clock import iso  # noqa: PLC0415
    from ...nouns.ids import to_uuid  # noqa: PLC0415

    return {
        "format": _FORMAT,
        "version": 1,
        "bank": bank,
        "entity": entity,
        "whole": done.whole,
        "erased": [to_uuid(i) for i in done.units],
        "erased_count": done.unit_count,
        "intentions": [to_uuid(i) for i in done.intentions],
        "remaining": done.remaining,
        "at": iso(done.at),
        "swept": swept.done,
        "copies": _COPIES,
    }


def _show(shape: Mapping[str, Any], what: str) -> None:
    out = results()
    count, intentions = shape["erased_count"], len(shape["intentions"])
    out.print(f"forgot {what}: {count:,} memories and facts, {intentions:,} intentions")
    if shape["remaining"]:
        remark(
            f"{shape['remaining']:,} memories still hold the name and are not known to mean it: "
            "look at them with `remembrancer recall`",
            "yellow",
        )
