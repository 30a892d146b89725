"""Bank templates: a bank's settings as a document that another bank, or server, can take in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..nouns.errors import InvalidInput
from ..nouns.memory import BankRef
from .bank_config import checked
from .banks import Banks

VERSION = "1"
"""Of the document's format; Hindsight's."""


@dataclass(frozen=True, slots=True)
class Template:
    """What a template says. Mental models and directives are refused unless there are none."""

    version: str
    config: Mapping[str, Any]
    mental_models: Sequence[Any] = ()
    directives: Sequence[Any] = ()


class Templates:
    """The verbs; everything they need is passed in."""

    def __init__(self, banks: Banks) -> None:
        self._banks = banks

    async def export(self, ref: BankRef) -> Template:
        """Return what a bank sets.

        Raises:
            NotFound: there is no such bank.
        """
        found = await self._banks.get(ref)
        return Template(VERSION, found.config.overrides)

    async def take_in(self, ref: BankRef, template: Template, *, dry_run: bool = False) -> bool:
        """Give a bank the settings of a template; return whether there are any.

        The bank is made when it is new; settings that the template does not name stay.

        Raises:
            InvalidInput, TooLarge: nothing was changed.
        """
        _check(template)
        config = {name: value for name, value in template.config.items() if value is not None}
        checked(config, "bank")
        if not dry_run:
            await self._banks.update(ref, updates=config, where="bank")
        return bool(config)


def _check(template: Template) -> None:
    if template.version != VERSION:
        raise InvalidInput(
            f"version is {template.version[:100]!r}; this server reads version {VERSION!r}",
            field="version",
        )
    for name in ("mental_models", "directives"):
        if getattr(template, name):
            raise InvalidInput(
                f"this server keeps no {name.replace('_', ' ')} yet: take them out of the "
                "template, or leave the list empty",
                field=name,
                limit=0,
            )
