"""What a tool is: a name, what it takes, and the request that it stands for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id
from .ways import Ask

A = TypeVar("A", bound="Arguments")

Json = Mapping[str, Any]


def _an_id(text: str) -> str:
    try:
        parse_id(text, "it")
    except InvalidInput as error:
        raise ValueError(error.message) from None
    return text


Id = Annotated[str, AfterValidator(_an_id)]
"""An id: any other word of a path might be that of another route."""


class Arguments(BaseModel):
    """What a tool takes; a name that it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


class InBank(Arguments):
    """What a tool about one bank takes."""

    bank_id: str | None = Field(
        None,
        description="Whose memory: one bank a user or agent. The connection's bank by default.",
    )


class Asking(Protocol):
    """Asks the HTTP face and returns the answer's body; a refusal is raised."""

    async def __call__(self, ask: Ask) -> Any:
        """Send a request."""
        ...


Progress = Callable[[float, float, str], Awaitable[None]]
"""Called with what is done, what there is in all, and a word about it."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool has to work with: the bank, the way to HTTP, and whom to tell of progress."""

    bank: str
    ask: Asking
    progress: Progress


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One tool.

    Attributes:
        name: as clients call it.
        title: for people.
        description: for models: what it does, and when to use it.
        takes: its arguments.
        run: what it does; returns an object.
        reads: it changes nothing.
        destroys: what it changes may be lost.
        many: it is not about one bank, and left out where a connection has one bank.
        answers: id of the HTTP operation whose answer is its result.
    """

    name: str
    title: str
    description: str
    takes: type[A]
    run: Callable[[A, Call], Awaitable[Json]]
    reads: bool = False
    destroys: bool = False
    many: bool = False
    answers: str | None = None


AnyTool = Tool[Any]


def asking(
    name: str,
    title: str,
    description: str,
    takes: type[A],
    ask: Callable[[A, str], Ask],
    answers: str,
    **more: bool,
) -> Tool[A]:
    """Return a tool that is one request; its result is the answer of the operation `answers`."""

    async def run(given: A, call: Call) -> Json:
        return whole(await call.ask(ask(given, call.bank)))

    return Tool(name, title, description, takes, run, answers=answers, **more)


def whole(body: Any) -> Json:
    """Return an answer as the object that a tool's result has to be."""
    if isinstance(body, Mapping):
        return body
    return {"result": body} if body is not None else {"success": True}


def given(arguments: BaseModel, *left_out: str) -> dict[str, Any]:
    """Return what was given, for a request's body; what is None is left out."""
    return arguments.model_dump(
        mode="json", exclude={"bank_id", *left_out}, exclude_none=True, by_alias=True
    )


def tags_of(tags: Sequence[str] | None) -> list[str] | None:
    """Return tags for a query, None when there are none."""
    return list(tags) if tags else None
