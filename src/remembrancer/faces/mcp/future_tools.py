"""The tools of prospective memory: what is to be done later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from .tool import AnyTool, Arguments, Id, InBank, asking, given
from .ways import Ask, path_of


class Recurs(Arguments):
    """How often: one of these."""

    rrule: str | None = Field(None, description="RFC 5545, such as FREQ=WEEKLY;BYDAY=MO.")
    cron: str | None = Field(None, description="Five fields, or @daily and the like.")
    every: int | None = Field(None, ge=60, description="Seconds of real time.")


class RemindArguments(InBank):
    """What `remind` takes."""

    content: str = Field(description="What is to be done, such as 'call Bob'.")
    at: str | None = Field(
        None, description="When, in words or ISO 8601: 'friday 9:00', 'in 20 minutes'."
    )
    zone: str | None = Field(None, description="IANA name, such as Europe/Berlin; UTC by default.")
    recurrence: Recurs | None = None
    event: str | None = Field(None, description="Or when this event happens, such as 'deployed'.")
    topic: str | None = Field(None, description="Or when the conversation comes to this topic.")
    importance: float | None = Field(None, ge=0, le=1, description=".5 by default.")
    recurring: bool | None = Field(None, description="For events and topics: each time.")


class CheckArguments(InBank):
    """What `check` takes."""

    events: list[str] = Field(default_factory=list, description="Names of what has just happened.")
    topic: str | None = Field(None, description="What is talked about now.")
    mode: Literal["lease", "consume", "peek"] = Field(
        "lease",
        description="lease: yours until acked or the lease ends; consume: done with; peek: look.",
    )
    lease_seconds: float = Field(60, ge=1, le=43_200)
    limit: int = Field(20, ge=1, le=1_000)


class AckArguments(InBank):
    """What `ack` takes."""

    occurrence_id: Id = Field(description="`occurrence.id` of what `check` returned.")
    outcome: Literal["done", "failed", "dismissed"] = "done"


class SnoozeArguments(InBank):
    """What `snooze` takes."""

    occurrence_id: Id
    seconds: float = Field(600, ge=1, description="Bring it back after so many seconds.")


class IntentionsArguments(InBank):
    """What `list_reminders` takes."""

    state: Literal["proposed", "active", "paused", "done", "expired", "cancelled"] | None = None
    limit: int = Field(50, ge=1, le=1_000)
    offset: int = Field(0, ge=0)


class IntentionArguments(InBank):
    """What names one intention."""

    intention_id: Id


def _remind(arguments: RemindArguments, bank: str) -> Ask:
    item: dict[str, Any] = {
        "content": arguments.content,
        "at": arguments.at,
        "zone": arguments.zone,
        "recurrence": given(arguments.recurrence) if arguments.recurrence else None,
        "triggerEvent": arguments.event,
        "cueText": arguments.topic,
        "importance": arguments.importance,
        "recurring": arguments.recurring,
    }
    body = {"items": [{name: value for name, value in item.items() if value is not None}]}
    return Ask("POST", path_of(bank, "intentions"), body=body)


def _check(arguments: CheckArguments, bank: str) -> Ask:
    body = {
        "events": arguments.events,
        "queryText": arguments.topic,
        "mode": arguments.mode,
        "leaseSeconds": arguments.lease_seconds,
        "limit": arguments.limit,
    }
    return Ask("POST", path_of(bank, "intentions", "check"), body=body)


def _ack(arguments: AckArguments, bank: str) -> Ask:
    route = {"done": "ack", "failed": "nack", "dismissed": "dismiss"}[arguments.outcome]
    return Ask("POST", path_of(bank, "occurrences", arguments.occurrence_id, route), body={})


def _snooze(arguments: SnoozeArguments, bank: str) -> Ask:
    path = path_of(bank, "occurrences", arguments.occurrence_id, "snooze")
    return Ask("POST", path, body={"seconds": arguments.seconds})


def _listing(arguments: IntentionsArguments, bank: str) -> Ask:
    return Ask("GET", path_of(bank, "intentions"), given(arguments))


def _cancel(arguments: IntentionArguments, bank: str) -> Ask:
    return Ask("DELETE", path_of(bank, "intentions", arguments.intention_id))


TOOLS: Sequence[AnyTool] = (
    asking(
        "remind",
        "Remind later",
        "Register something to do later: at a time (once or recurring), when an event happens, or "
        "when a topic comes up. It survives restarts and comes back through check and prime.",
        RemindArguments,
        _remind,
        "create_intentions",
    ),
    asking(
        "check",
        "What is due",
        "Return what is to be done now, the most important first. Tell it what has just happened "
        "and what is talked about. Acknowledge each with ack, or it comes back.",
        CheckArguments,
        _check,
        "check_intentions",
    ),
    asking(
        "ack",
        "Acknowledge",
        "Say what became of something that check returned: done, failed (it comes back) or "
        "dismissed.",
        AckArguments,
        _ack,
        "ack_occurrence",
    ),
    asking(
        "snooze",
        "Snooze",
        "Bring something that is due back later.",
        SnoozeArguments,
        _snooze,
        "snooze_occurrence",
    ),
    asking(
        "list_reminders",
        "List reminders",
        "List what was registered, with next times and states.",
        IntentionsArguments,
        _listing,
        "list_intentions",
        reads=True,
    ),
    asking(
        "cancel_reminder",
        "Cancel a reminder",
        "Erase something that was to be done later.",
        IntentionArguments,
        _cancel,
        "delete_intention",
        destroys=True,
    ),
)
