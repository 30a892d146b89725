"""Named queries: reads `.sql` files made of blocks that start with `-- name: foo`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

from ..nouns.errors import StoreError

_NAME = re.compile(r"^-- name: ([a-z][a-z0-9_]*)\s*$", re.MULTILINE)
_INCLUDE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class Queries(Mapping[str, str]):
    """Query texts by name.

    `{other}` in a query stands for the text of the block `other`, when there is one; any other
    `{word}` is left for the store to fill in.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {name: _filled(text, texts) for name, text in texts.items()}

    @classmethod
    def load(cls, package: str, folder: str = "sql") -> Queries:
        """Read every `.sql` file in `folder` of a package.

        Raises:
            StoreError: two blocks share a name, or a file has text before its first block.
        """
        texts: dict[str, str] = {}
        for entry in sorted(files(package).joinpath(folder).iterdir(), key=lambda e: e.name):
            if not entry.name.endswith(".sql"):
                continue
            for name, text in parse(entry.read_text(encoding="utf-8"), entry.name):
                if name in texts:
                    raise StoreError(f"{entry.name}: the query {name} is defined twice")
                texts[name] = text
        return cls(texts)

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def parse(text: str, origin: str = "sql") -> Iterator[tuple[str, str]]:
    """Yield (name, query) for each block of a file; comment lines and a last `;` are dropped."""
    head, *blocks = _NAME.split(text)
    if _bare(head):
        raise StoreError(f"{origin}: text stands before the first '-- name:' line")
    for name, body in zip(blocks[::2], blocks[1::2], strict=True):
        yield name, _bare(body)


def _bare(body: str) -> str:
    lines = (line for line in body.splitlines() if not line.lstrip().startswith("--"))
    return "\n".join(lines).strip().removesuffix(";").rstrip()


def _filled(text: str, texts: Mapping[str, str]) -> str:
    def include(match: re.Match[str]) -> str:
        name = match.group(1)
        return _filled(texts[name], texts) if name in texts else match.group(0)

    return _INCLUDE.sub(include, text)
