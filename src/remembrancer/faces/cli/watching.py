"""What has happened in a bank since it was last asked: of the folder here, or of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...nouns.clock import iso
from ...nouns.errors import InvalidInput
from ...nouns.ids import to_uuid
from ...nouns.memory import Layer, Op
from ...verbs.check import CheckOptions, Mode

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.memory import BankRef

_PAGE = 200  # memories looked at together


class Watched:
    """A bank of the folder, by its change feed."""

    def __init__(self, app: App, ref: BankRef) -> None:
        self._app = app
        self._ref = ref
        self._revision = 0
        self._seen: set[tuple[bytes, int]] = set()

    async def begin(self) -> None:
        """Begin now: what was remembered before is not told, what is due is."""
        async with self._app.store.snapshot(self._ref) as view:
            self._revision = view.revision

    async def news(self) -> list[dict[str, Any]]:
        """Return what has happened since."""
        return [*await self._changes(), *await self._due()]

    async def _changes(self) -> list[dict[str, Any]]:
        now = iso(self._app.clock.now_us())
        async with self._app.store.snapshot(self._ref) as view:
            if view.revision == self._revision:
                return []
            page = await view.changes(self._revision, _PAGE)
            if page is None:  # it was dropped, or the feed is cut: go on from here
                self._revision = view.revision
                return []
            self._revision = page.changes[-1].revision if page.changes else view.revision
            put = dict.fromkeys(c.unit_id for c in page.changes if c.op is Op.PUT)
            gone = dict.fromkeys(c.unit_id for c in page.changes if c.op is not Op.PUT)
            units = [u for u in await view.units(list(put)) if u.layer is not Layer.FACT]
        told = [_event("forgotten", now, to_uuid(unit_id), "") for unit_id in gone]
        return told + [
            _event("remembered", iso(u.created_at), to_uuid(u.id), u.text) for u in units
        ]

    async def _due(self) -> list[dict[str, Any]]:
        found = await self._app.check(self._ref, CheckOptions(mode=Mode.PEEK))
        told = []
        for due in found.due:
            key = (due.intention.id, due.occurrence.due_at)
            if key not in self._seen:
                self._seen.add(key)
                at = iso(due.occurrence.due_at)
                told.append(_event("due", at, to_uuid(due.intention.id), due.intention.content))
        return told


class WatchedServer:
    """A bank of a server: its newest memories and what is due. What is forgotten is not seen."""

    def __init__(self, url: str, key: str | None, bank: str) -> None:
        from ..mcp.ways import Remote  # noqa: PLC0415

        self._way = Remote(url)
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._bank = bank
        self._known: set[str] = set()
        self._seen: set[tuple[str, int]] = set()

    async def begin(self) -> None:
        """Begin now: what was remembered before is not told, what is due is.

        Raises:
            InvalidInput, StoreError: the server refuses, or is not there.
        """
        self._known = {each["id"] for each in await self._newest()}

    async def news(self) -> list[dict[str, Any]]:
        """Return what has happened since, of the newest 200 memories."""
        newest = await self._newest()
        told = [
            _event("remembered", each.get("mentioned_at") or each.get("date"), each["id"], text)
            for each in newest[::-1]
            if each["id"] not in self._known and (text := each.get("text", ""))
        ]
        self._known |= {each["id"] for each in newest}
        body = {"mode": "peek"}
        answer = await self._asked("POST", "intentions/check", body=body)
        for due in answer["items"]:
            key = (due["id"], due["occurrence"]["due_at"])
            if key not in self._seen:
                self._seen.add(key)
                at = iso(key[1] * 1_000)
                told.append(_event("due", at, due["id"], due["content"]))
        return told

    async def close(self) -> None:
        """End it."""
        await self._way.close()

    async def _newest(self) -> list[dict[str, Any]]:
        listed = await self._asked("GET", "memories/list", {"limit": _PAGE})
        items: list[dict[str, Any]] = listed["items"]
        return items

    async def _asked(
        self, method: str, path: str, query: dict[str, Any] | None = None, body: Any = None
    ) -> Any:
        from ..mcp.ways import Ask, error_text, path_of  # noqa: PLC0415

        ask = Ask(method, path_of(self._bank) + "/" + path, query or {}, body)
        answer = await self._way.call(ask, self._headers)
        if answer.status >= 400:
            raise InvalidInput(error_text(answer))
        return answer.body


def _event(kind: str, at: str | None, unit_id: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "at": at, "id": unit_id, "text": text}
