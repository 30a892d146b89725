"""`remembrancer remind`: register what is to be done later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ...nouns.errors import InvalidInput
from ...nouns.ids import to_uuid
from .options import AsJson, Bank, Data, Embedder, StoreUrl, examples, settings_of
from .output import remark, results, write_json
from .session import with_app

if TYPE_CHECKING:
    from ...app import App
    from ...nouns.intention import Intention
    from ...verbs.remind import Registered
    from ...verbs.reminding.reminders import Reminder

NAME = "remind"
ITEM_JSON = (
    "{id, content, triggerType, triggerAt, triggerEvent, cueText, similarityThreshold, importance, "
    "triggered, recurring, createdAt, sourceTraceId, tierRank, state, nextDue, recurrence, …}"
)
EPILOG = examples(
    'remembrancer remind "call Bob" --at "friday 9:00" --tz Europe/Berlin --bank ann',
    'remembrancer remind "water the plants" --at "every monday at 8" -b ann',
    'remembrancer remind "check the logs" --event deploy -b ann',
    'remembrancer remind "offer the pesto recipe" --about "cooking, recipes" -b ann',
    json=f"{ITEM_JSON}; times are Unix milliseconds, what is not there is left out",
)


def command(
    content: Annotated[str, typer.Argument(metavar="WHAT", help="What is to be done.")],
    at: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="A time or a repeat in words, or ISO 8601; to be done then.",
            show_default=False,
        ),
    ] = None,
    zone: Annotated[
        str, typer.Option("--tz", metavar="ZONE", help="IANA zone that WHEN is told in.")
    ] = "UTC",
    event: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="To be done when this event is told.", show_default=False
        ),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC", help="To be done when this is talked about.", show_default=False
        ),
    ] = None,
    importance: Annotated[float, typer.Option(help="What is more important comes first.")] = 0.5,
    recurring: Annotated[
        bool, typer.Option("--recurring", help="Each time, not only the first.")
    ] = False,
    tier: Annotated[
        float | None,
        typer.Option(
            metavar="RANK", help="Withheld from callers of a lower rank.", show_default=False
        ),
    ] = None,
    bank: Bank = "default",
    json: AsJson = False,
    data: Data = None,
    store: StoreUrl = None,
    embedder: Embedder = None,
) -> None:
    """Register what is to be done later: at a time, at an event, or when a topic comes up.

    It is kept until somebody acknowledges it; `remembrancer intentions check` or a server hands it
    over when it is due.
    """
    settings = settings_of(data, store, embedder)

    async def work(app: App) -> Registered:
        from ...nouns.names import bank_ref  # noqa: PLC0415

        reminder, doubts = _reminder(
            app.clock.now_us(), content, at, zone, event, about, importance, recurring, tier
        )
        for doubt in doubts:
            remark(doubt, "yellow")
        return await app.remind(bank_ref(bank), [reminder])

    made = with_app(settings, work)
    for warning in made.warnings:
        remark(warning, "yellow")
    if json:
        write_json(item(made.intentions[0]))
        return
    results().print(f"{to_uuid(made.intentions[0].id)}  {waits_for(made.intentions[0])}")


def item(intention: Intention) -> dict[str, object]:
    """Return an intention as JSON, as the HTTP face shows it."""
    from ..http.intention_shapes import shown  # noqa: PLC0415

    return shown(intention).model_dump(by_alias=True, exclude_none=True)


def waits_for(intention: Intention) -> str:
    """Say what an intention waits for."""
    from ...nouns.clock import from_us  # noqa: PLC0415
    from ...nouns.intention import TriggerType  # noqa: PLC0415
    from ...reading.recurrence.zones import local_of, zone_of  # noqa: PLC0415

    match intention.trigger_type:
        case TriggerType.EVENT:
            return f"when {intention.trigger_event} happens"
        case TriggerType.CONTEXT:
            return f"when it is about {intention.cue_text or 'something like its cue'}"
        case TriggerType.COMPOSITE:
            return "when its condition holds"
    at = intention.next_due or intention.trigger_at
    if at is None:
        return "at no time any more"
    zone = (intention.options.get("recurrence") or intention.options).get("zone", "UTC")
    local = from_us(at) if zone == "UTC" else local_of(at, zone_of(zone))
    again = " and again" if intention.recurring else ""
    return f"at {local:%Y-%m-%d %H:%M} {zone}{again}"


def _reminder(
    now: int,
    content: str,
    at: str | None,
    zone: str,
    event: str | None,
    about: str | None,
    importance: float,
    recurring: bool,
    tier: float | None,
) -> tuple[Reminder, tuple[str, ...]]:
    from ...nouns.intention import TriggerType  # noqa: PLC0415
    from ...verbs.reminding.reminders import Reminder  # noqa: PLC0415
    from ...verbs.reminding.scheduling import Schedule, in_words  # noqa: PLC0415

    if sum(each is not None for each in (at, event, about)) != 1:
        raise InvalidInput("say when: one of --at, --event and --about", field="at")
    kind = TriggerType.EVENT if event else TriggerType.CONTEXT if about else TriggerType.TIME
    schedule = Schedule() if at is None else in_words(at, now, zone)
    reminder = Reminder(
        content=content,
        trigger_type=kind,
        trigger_at=schedule.trigger_at,
        recurrence=schedule.recurrence,
        trigger_event=event,
        cue_text=about,
        importance=importance,
        recurring=recurring,
        tier_rank=tier,
        options={} if at is None else {"zone": zone},
    )
    return reminder, schedule.warnings
