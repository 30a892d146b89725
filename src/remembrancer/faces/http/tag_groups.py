"""`tag_groups` on the wire: a tree of tag filters, joined by `and`, `or`, `not`."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from ...finding.tag_groups import MAX_CHARS, MAX_DEPTH, MAX_GROUPS, MAX_TAGS, read_tag_groups
from ...finding.tagging import TagMatch, TagNode

_MATCHES = [match.value for match in TagMatch]
_GROUP = {"type": "object", "description": "A group again."}
_GROUPS = {"type": "array", "items": _GROUP, "minItems": 1}
_TAG_LIST = {
    "type": "array",
    "items": {"type": "string", "maxLength": MAX_CHARS},
    "maxItems": MAX_TAGS,
}
_ONE = {
    "anyOf": [
        {
            "type": "object",
            "title": "TagGroupLeaf",
            "required": ["tags"],
            "properties": {
                "tags": _TAG_LIST,
                "match": {
                    "type": "string",
                    "enum": [match.value for match in TagMatch],
                    "default": "any_strict",
                },
            },
        },
        *(
            {
                "type": "object",
                "title": f"TagGroup{key.title()}",
                "required": [key],
                "properties": {key: _GROUP if key == "not" else _GROUPS},
            }
            for key in ("and", "or", "not")
        ),
    ]
}
TagGroups = Annotated[
    TagNode | None,
    PlainValidator(read_tag_groups),
    WithJsonSchema(
        {
            "anyOf": [{"type": "array", "items": _ONE}, {"type": "null"}],
            "description": f"Groups that must all be met; {MAX_GROUPS} at most, {MAX_DEPTH} deep.",
        }
    ),
]
