"""Bank templates: a bank's settings as a document that another bank, or server, can take in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..nouns.errors import InvalidInput
from ..nouns.memory import BankRef
from .bank_config import checked
from .banks import Banks
from .directives import Directive, Directives
from .mental_models import MentalModels
from .modelling.shelf import MentalModel, Shelf

VERSION = "1"
"""Of the document's format; Hindsight's."""


@dataclass(frozen=True, slots=True)
class Template:
    """What a template says. Of mental models and directives only what their owner wrote counts."""

    version: str
    config: Mapping[str, Any]
    mental_models: Sequence[MentalModel] = ()
    directives: Sequence[Directive] = ()


@dataclass(slots=True)
class Taken:
    """What was done with a template, or would be: ids of mental models, names of directives."""

    config: bool = False
    models_created: list[str] = field(default_factory=list)
    models_updated: list[str] = field(default_factory=list)
    directives_created: list[str] = field(default_factory=list)
    directives_updated: list[str] = field(default_factory=list)
    operation_ids: list[bytes] = field(default_factory=list)


class Templates:
    """The verbs; everything they need is passed in."""

    def __init__(
        self, banks: Banks, directives: Directives, shelf: Shelf, models: MentalModels
    ) -> None:
        self._banks = banks
        self._directives = directives
        self._shelf = shelf
        self._models = models

    async def export(self, ref: BankRef) -> Template:
        """Return what a bank sets, its mental models without what they say, and its directives.

        Raises:
            NotFound: there is no such bank.
        """
        found = await self._banks.get(ref)
        models = sorted(await self._shelf.all(ref), key=lambda m: m.id)
        directives = await self._directives.list(ref, active=False)
        return Template(VERSION, found.config.overrides, models, directives)

    async def take_in(self, ref: BankRef, template: Template, *, dry_run: bool = False) -> Taken:
        """Give a bank what a template says; return what was done.

        The bank is made when it is new; what the template does not name stays. A mental model of
        a known id and a directive of a known name are changed.

        Raises:
            InvalidInput, TooLarge: the settings, or the version; nothing was changed.
        """
        if template.version != VERSION:
            raise InvalidInput(
                f"version is {template.version[:100]!r}; this server reads version {VERSION!r}",
                field="version",
            )
        config = {name: value for name, value in template.config.items() if value is not None}
        checked(config, "bank")
        done = Taken(bool(config))
        if not dry_run:
            await self._banks.update(ref, updates=config, where="bank")
        known = {each.name: each for each in await self._directives.list(ref, active=False)}
        for directive in template.directives:
            await self._take_directive(ref, directive, known.get(directive.name), done, dry_run)
        for model in template.mental_models:
            await self._take_model(ref, model, done, dry_run)
        return done

    async def _take_directive(
        self, ref: BankRef, new: Directive, old: Directive | None, done: Taken, dry_run: bool
    ) -> None:
        names = done.directives_created if old is None else done.directives_updated
        names.append(new.name)
        told = {"priority": new.priority, "is_active": new.is_active, "tags": new.tags}
        if dry_run:
            return
        if old is None:
            await self._directives.create(
                ref,
                new.name,
                new.content,
                priority=new.priority,
                is_active=new.is_active,
                tags=new.tags,
            )
        else:
            await self._directives.update(ref, old.id, {**told, "content": new.content})

    async def _take_model(self, ref: BankRef, new: MentalModel, done: Taken, dry_run: bool) -> None:
        old = await self._shelf.find(ref, new.id)
        (done.models_created if old is None else done.models_updated).append(new.id)
        if dry_run:
            return
        if old is None:
            _, job = await self._models.create(
                ref,
                new.name,
                new.source_query,
                key=new.id,
                tags=new.tags,
                max_tokens=new.max_tokens,
                trigger=new.trigger,
            )
        else:
            names = ("name", "source_query", "tags", "max_tokens", "trigger")
            await self._models.update(ref, new.id, {name: getattr(new, name) for name in names})
            job = await self._models.enqueue(ref, new.id)
        done.operation_ids.append(job.id)
