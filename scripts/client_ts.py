#!/usr/bin/env python3
"""What `make client-ts` needs besides npm: the document that types are made from, and the seal.

The document is the server's OpenAPI without what the client does not hand on. The seal,
clients/typescript/made.json, names by digest what the types and the built files were made from, so
that tests notice without npm when one of them was left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).parents[1] / "clients" / "typescript"
SEAL = CLIENT / "made.json"

_SOURCES = ("package.json", "package-lock.json", "src/*.ts", "tsconfig.json", "types/*.ts")
_BUILT = ("lib/*",)
_PROSE = ("title", "description", "summary")
_EXAMPLES = ("example", "examples")
_REF = re.compile(r'"#/components/schemas/([^"]+)"')


def main() -> None:
    """Write the document that types are made from, or the seal."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--document", type=Path, help="write the document to this file")
    parser.add_argument("--seal", action="store_true", help="write clients/typescript/made.json")
    options = parser.parse_args()
    whole = asyncio.run(_describe())
    if options.document:
        options.document.parent.mkdir(parents=True, exist_ok=True)
        options.document.write_text(json.dumps(narrowed(whole)), encoding="utf-8")
    if options.seal:
        SEAL.write_text(json.dumps(made(whole), indent=2) + "\n", encoding="utf-8")


def made(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of the server's OpenAPI document, and of the client's files as they are.

    Prose changes no type, so it does not count.
    """
    shape = _without_prose(narrowed(document))
    return {
        "openapi": _digest([json.dumps(shape, sort_keys=True).encode()]),
        "sources": _digest(_files(_SOURCES)),
        "built": _digest(_files(_BUILT)),
    }


def narrowed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what types are made from.

    Left out are answers that the client turns into errors, routes for other systems' own clients,
    the leave to add any key to a body (so that a misspelled one is a compiler's error), and titles,
    which repeat names.
    """
    paths = {
        path: {method: _answers_only(operation) for method, operation in item.items()}
        for path, item in document["paths"].items()
        if not path.startswith("/compat/")
    }
    schemas = {name: _closed(each) for name, each in document["components"]["schemas"].items()}
    needed = _needed(paths, schemas)
    kept = {name: each for name, each in schemas.items() if name in needed}
    about = {"title": document["info"]["title"], "version": ""}
    rest = _tidy({"paths": paths, "components": {"schemas": kept}})
    return {"openapi": document["openapi"], "info": about, **rest}


def _answers_only(operation: Mapping[str, Any]) -> dict[str, Any]:
    answers = {status: each for status, each in operation["responses"].items() if status < "300"}
    return {**operation, "responses": answers}


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    if "properties" not in schema or schema.get("additionalProperties") is not True:
        return schema
    return {name: each for name, each in schema.items() if name != "additionalProperties"}


def _needed(paths: Mapping[str, Any], schemas: Mapping[str, Any]) -> set[str]:
    """Return the schemas that paths refer to, directly or through others."""
    found: set[str] = set()
    waiting = set(_REF.findall(json.dumps(paths)))
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= set(_REF.findall(json.dumps(schemas[name]))) - found
    return found


def _tidy(value: Any) -> Any:
    """Leave out titles, and that the default is nothing. A property may have one of these names."""
    if isinstance(value, list):
        return [_tidy(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: _tidy(each)
        for name, each in value.items()
        if not (name == "title" and isinstance(each, str))
        and not (name == "default" and each is None)
    }


def _without_prose(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_prose(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: _without_prose(each)
        for name, each in value.items()
        if name not in _EXAMPLES and not (name in _PROSE and isinstance(each, str))
    }


async def _describe() -> dict[str, Any]:
    """Return the OpenAPI document of a server."""
    from remembrancer.app import App  # noqa: PLC0415
    from remembrancer.faces.http.server import make_app  # noqa: PLC0415
    from remembrancer.settings import Settings  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        app = await App.open(Settings(data=Path(folder), embedder="none"), background=False)
        try:
            return make_app(app).openapi()
        finally:
            await app.close()


def _files(patterns: Iterable[str]) -> Iterable[bytes]:
    for pattern in patterns:
        for path in sorted(CLIENT.glob(pattern)):
            yield path.relative_to(CLIENT).as_posix().encode()
            yield path.read_bytes()


def _digest(parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8))
        whole.update(part)
    return whole.hexdigest()


if __name__ == "__main__":
    main()
