#!/usr/bin/env python3
"""Write docs/settings.md from the settings; with --check only say whether it is up to date."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from generated_doc import main, table
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from remembrancer.settings import ALIASES, Settings

TARGET = Path(__file__).parents[1] / "docs" / "settings.md"

HEAD = """\
# Settings

Each can be set in three ways, the later one winning over the earlier:

1. an environment variable, `REMEMBRANCER_NAME=value`;
2. an argument of `remembrancer.open` or of `remembrancer.Settings`;
3. an option of the command line, where there is one.

Lists are written as JSON in the environment: `REMEMBRANCER_DATE_LANGUAGES='["en", "de"]'`. A value
that cannot be is an error when the memory is opened. An empty variable counts as unset; of keys and
certificates (`api_key`, `encryption_key…`, `tls_…`) it is an error.
"""

ALIASED = """\
Variables of Hindsight and HEBBS that are read, too; those above win over them. An empty one counts
as unset.
"""

TAIL = """\
One more is read by the command line alone: with `REMEMBRANCER_TRACEBACK=1` an unexpected error
shows where it happened.
"""

NAMES: dict[Any, str] = {
    bool: "true or false",
    str: "text",
    int: "integer",
    float: "number",
    Path: "path",
    SecretStr: "text (secret)",
    tuple[str, ...]: "list of texts",
}
BOUNDS: dict[type, tuple[str, str]] = {
    Ge: ("ge", "at least"),
    Gt: ("gt", "above"),
    Le: ("le", "at most"),
    Lt: ("lt", "below"),
}


def page() -> str:
    """Return the page."""
    rows = [_row(name, field) for name, field in Settings.model_fields.items()]
    header = ("Name", "Environment variable", "Type", "Default", "Meaning")
    aliases = [[f"`{name}`", f"`{field}`"] for name, field in ALIASES.items()]
    aliased = f"{ALIASED}\n{table(('Variable', 'Name'), aliases)}"
    return f"{HEAD}\n{table(header, rows)}\n{aliased}\n{TAIL}"


def _row(name: str, field: FieldInfo) -> list[str]:
    prefix = Settings.model_config.get("env_prefix", "")
    return [
        f"`{name}`",
        f"`{prefix}{name.upper()}`",
        _type(field),
        _default(field.default),
        field.description or "",
    ]


def _type(field: FieldInfo) -> str:
    """Spell a type and its bounds; that a value may be missing is seen from its default."""
    kinds = [kind for kind in get_args(field.annotation) if kind is not NoneType]
    optional = NoneType in get_args(field.annotation)
    kind = kinds[0] if optional else field.annotation
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    said = _one_of(kind) or NAMES[kind]
    bounds = [_bound(each) for each in _metadata(field) if type(each) in BOUNDS]
    return ", ".join([said, *bounds])


def _one_of(kind: Any) -> str:
    """Spell the values of a Literal; nothing of other types."""
    values = get_args(kind) if get_origin(kind) is Literal else ()
    return " or ".join(f"`{value}`" for value in values)


def _metadata(field: FieldInfo) -> list[Any]:
    """Return constraints, those of the type inside an optional one among them."""
    inner = [each for kind in get_args(field.annotation) for each in getattr(kind, "metadata", ())]
    return [*field.metadata, *inner]


def _bound(constraint: Any) -> str:
    attribute, words = BOUNDS[type(constraint)]
    return f"{words} {getattr(constraint, attribute):,}"


def _default(value: Any) -> str:
    if value is None:
        return "unset"
    return f"`{json.dumps(value) if isinstance(value, tuple) else value}`"


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", TARGET, page))
