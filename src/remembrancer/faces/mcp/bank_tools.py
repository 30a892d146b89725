"""The tools about banks, documents, operations, entities and tags."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from .tool import AnyTool, Arguments, Id, InBank, asking, given
from .ways import Ask, path_of


class BanksArguments(Arguments):
    """What `list_banks` takes."""

    q: str | None = Field(None, description="A part of the name.")
    limit: int = Field(100, ge=1, le=10_000)
    offset: int = Field(0, ge=0)


class ProfileArguments(InBank):
    """What `create_bank` and `update_bank` take."""

    name: str | None = Field(None, description="What people call it.")
    mission: str | None = Field(None, description="What this memory is for.")


class PageArguments(InBank):
    """A page of a list."""

    q: str | None = Field(None, description="A part of the name.")
    limit: int = Field(100, ge=1, le=1_000)
    offset: int = Field(0, ge=0)


class DocumentArguments(InBank):
    """What names one document."""

    document_id: str


class OperationsArguments(InBank):
    """What `list_operations` takes."""

    status: str | None = Field(None, description="pending, processing, completed, failed …")
    limit: int = Field(20, ge=1, le=100)
    offset: int = Field(0, ge=0)


class OperationArguments(InBank):
    """What names one operation."""

    operation_id: Id


class EntityArguments(InBank):
    """What names one entity."""

    entity_id: Id


def _bank(arguments: InBank, bank: str) -> Ask:  # noqa: ARG001
    return Ask("GET", path_of(bank, "profile"))


def _put(arguments: ProfileArguments, bank: str) -> Ask:
    return Ask("PUT", path_of(bank), body=given(arguments))


def _patch(arguments: ProfileArguments, bank: str) -> Ask:
    return Ask("PATCH", path_of(bank), body=given(arguments))


TOOLS: Sequence[AnyTool] = (
    asking(
        "list_banks",
        "List banks",
        "List the banks that this key reaches; a bank is one mind: a user's or an agent's.",
        BanksArguments,
        lambda arguments, _: Ask("GET", "/v1/default/banks", given(arguments)),
        "list_banks",
        reads=True,
        many=True,
    ),
    asking(
        "create_bank",
        "Create a bank",
        "Create a bank, or give one a name and a mission. Banks also come into being when "
        "something is retained.",
        ProfileArguments,
        _put,
        "create_or_update_bank",
        many=True,
    ),
    asking(
        "get_bank",
        "Look at a bank",
        "Return a bank's profile.",
        InBank,
        _bank,
        "get_bank_profile",
        reads=True,
    ),
    asking(
        "update_bank",
        "Change a bank",
        "Change a bank's name or mission.",
        ProfileArguments,
        _patch,
        "update_bank",
    ),
    asking(
        "delete_bank",
        "Delete a bank",
        "Erase a bank with all that is in it, for good.",
        InBank,
        lambda _, bank: Ask("DELETE", path_of(bank)),
        "delete_bank",
        destroys=True,
        many=True,
    ),
    asking(
        "get_bank_stats",
        "Count a bank",
        "Count memories by kind, documents, entities, links and operations.",
        InBank,
        lambda _, bank: Ask("GET", path_of(bank, "stats")),
        "get_bank_stats",
        reads=True,
    ),
    asking(
        "list_documents",
        "List documents",
        "List what was handed in, as documents.",
        PageArguments,
        lambda arguments, bank: Ask("GET", path_of(bank, "documents"), given(arguments)),
        "list_documents",
        reads=True,
    ),
    asking(
        "get_document",
        "Look at a document",
        "Return a document with its original text.",
        DocumentArguments,
        lambda arguments, bank: Ask("GET", path_of(bank, "documents", arguments.document_id)),
        "get_document",
        reads=True,
    ),
    asking(
        "delete_document",
        "Forget a document",
        "Erase a document with all memories read from it, for good.",
        DocumentArguments,
        lambda arguments, bank: Ask("DELETE", path_of(bank, "documents", arguments.document_id)),
        "delete_document",
        destroys=True,
    ),
    asking(
        "list_operations",
        "List operations",
        "List what was queued, the last first, with progress.",
        OperationsArguments,
        lambda arguments, bank: Ask("GET", path_of(bank, "operations"), given(arguments)),
        "list_operations",
        reads=True,
    ),
    asking(
        "get_operation",
        "Look at an operation",
        "Return how something queued stands: pending, processing, completed or failed.",
        OperationArguments,
        lambda arguments, bank: Ask("GET", path_of(bank, "operations", arguments.operation_id)),
        "get_operation_status",
        reads=True,
    ),
    asking(
        "cancel_operation",
        "Cancel an operation",
        "Cancel something queued that has not begun.",
        OperationArguments,
        lambda arguments, bank: Ask("DELETE", path_of(bank, "operations", arguments.operation_id)),
        "cancel_operation",
        destroys=True,
    ),
    asking(
        "list_entities",
        "List entities",
        "List the people, places and things that memories mention, the most mentioned first.",
        PageArguments,
        lambda arguments, bank: Ask("GET", path_of(bank, "entities"), given(arguments)),
        "list_entities",
        reads=True,
    ),
    asking(
        "get_entity",
        "Look at an entity",
        "Return one entity with what is known of it.",
        EntityArguments,
        lambda arguments, bank: Ask("GET", path_of(bank, "entities", arguments.entity_id)),
        "get_entity",
        reads=True,
    ),
    asking(
        "list_tags",
        "List tags",
        "List the tags in use, with counts.",
        PageArguments,
        lambda arguments, bank: Ask("GET", path_of(bank, "tags"), given(arguments)),
        "list_tags",
        reads=True,
    ),
)
