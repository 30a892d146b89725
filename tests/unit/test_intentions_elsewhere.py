"""Asks to be reminded in other languages than English."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from remembrancer.nouns.clock import from_us, to_us
from remembrancer.nouns.memory import Role
from remembrancer.reading.intending.finder import find_intentions
from remembrancer.reading.intending.types import ACTIVE_FROM, FoundIntention

ZONE = "Europe/Berlin"
SAID = to_us(datetime(2026, 12, 1, 13, 0, tzinfo=ZoneInfo(ZONE)))  # a Tuesday


def asked(text: str, role: Role = Role.USER) -> list[FoundIntention]:
    return find_intentions(text, said_at=SAID, role=role, zone=ZONE)


def told(found: FoundIntention) -> str:
    assert found.when is not None
    return from_us(found.when.at).astimezone(ZoneInfo(ZONE)).strftime("%a %d %H:%M")


@pytest.mark.parametrize(
    ("text", "content", "when"),
    [
        ("Erinnere mich morgen um 15 Uhr an den Zahnarzt.", "den Zahnarzt", "Wed 02 15:00"),
        ("Erinner mich um 15:30 an den Tee", "den Tee", "Tue 01 15:30"),
        ("Erinnere mich um 9 Uhr an die Post", "die Post", "Wed 02 09:00"),
        ("Danke! Erinnere mich heute Abend daran, Ida zu grüßen.", "Ida zu grüßen", "Tue 01 18:00"),
        ("Kannst du mich morgen früh dran erinnern, Ida zu holen?", "Ida zu holen", "Wed 02 09:00"),
        ("Könntest du mich am Freitag um 10 an die Miete erinnern?", "die Miete", "Fri 04 10:00"),
        ("Erinnere mich an das Paket am 3. Januar um 8 Uhr", "das Paket", "Sun 03 08:00"),
        ("Rappelle-moi demain à 15h30 d'appeler Paul.", "appeler Paul", "Wed 02 15:30"),
        ("Rappelle-moi d'appeler Paul vendredi, s'il te plaît", "appeler Paul", "Fri 04 09:00"),
        ("Peux-tu me rappeler ce soir de sortir le chien ?", "sortir le chien", "Tue 01 18:00"),
        ("Recuérdame mañana a las 3 de la tarde llamar a Eva.", "llamar a Eva", "Wed 02 15:00"),
        ("¿Puedes recordarme el viernes que pague la luz?", "pague la luz", "Fri 04 09:00"),
        ("Ricordami domani alle 15 di chiamare Ugo", "chiamare Ugo", "Wed 02 15:00"),
        ("Puoi ricordarmi di pagare la luce venerdì prossimo?", "pagare la luce", "Fri 04 09:00"),
        ("Lembra-me amanhã às 15h de ligar ao Rui", "ligar ao Rui", "Wed 02 15:00"),
        ("Herinner me morgen om 15 uur aan de tandarts", "de tandarts", "Wed 02 15:00"),
        ("Kun je me vrijdag eraan herinneren om melk te kopen?", "melk te kopen", "Fri 04 09:00"),
    ],
)  # fmt: skip
def test_an_ask_with_a_time_is_active(text: str, content: str, when: str) -> None:
    (found,) = asked(text)
    assert (found.content, told(found)) == (content, when)
    assert found.content in text
    assert found.confidence >= ACTIVE_FROM


@pytest.mark.parametrize(
    ("text", "rule", "when"),
    [
        ("Erinnere mich jeden Montag um 9 Uhr an Eva.", "FREQ=WEEKLY;BYDAY=MO", "Mon 07 09:00"),
        ("Erinnere mich jeden Dienstag um 14 Uhr an Eva.", "FREQ=WEEKLY;BYDAY=TU", "Tue 01 14:00"),
        ("Erinnere mich jeden Dienstag an Sport.", "FREQ=WEEKLY;BYDAY=TU", "Tue 08 09:00"),
        ("Rappelle-moi chaque jour à 20h de lire", "FREQ=DAILY", "Tue 01 20:00"),
        ("Recuérdame cada día a las 8 tomar agua", "FREQ=DAILY", "Wed 02 08:00"),
        ("Ricordami ogni lunedì alle 9 di scrivere", "FREQ=WEEKLY;BYDAY=MO", "Mon 07 09:00"),
        ("Lembra-me todos os dias às 8 de beber", "FREQ=DAILY", "Wed 02 08:00"),
        ("Herinner me elke maandag om 9 uur aan sport", "FREQ=WEEKLY;BYDAY=MO", "Mon 07 09:00"),
    ],
)  # fmt: skip
def test_a_plain_repeat_is_a_rule(text: str, rule: str, when: str) -> None:
    (found,) = asked(text)
    assert found.when is not None
    assert found.when.recurrence is not None
    assert found.when.recurrence.rrule == rule
    assert told(found) == when


def test_a_week_is_only_proposed() -> None:
    (found,) = asked("Erinnere mich nächste Woche an die Steuer.")
    assert found.confidence < ACTIVE_FROM


@pytest.mark.parametrize(
    "text",
    [
        "Erinnere mich an den Zahnarzt.",  # nobody knows when
        "Erinnere mich nicht morgen daran.",
        "Ich erinnere mich morgen nicht mehr daran.",
        "Das erinnert mich an gestern.",
        "Kannst du mich morgen besuchen?",
        "Erinnere mich am 1. Mai 2020 an den Zahnarzt.",  # it is over
        "Erinnere mich morgen oder am Freitag um 9 an die Post.",  # which?
        "Erinnere mich um 25 Uhr an die Post.",
        "Recuerdo que mañana llega Ana.",
        "Mi ricordi mia nonna.",
        "Er sagte: „Erinnere mich morgen an die Post.“",
    ],
)
def test_what_is_no_such_ask(text: str) -> None:
    assert asked(text) == []


def test_an_assistant_asks_for_nothing() -> None:
    assert asked("Erinnere mich morgen an den Zahnarzt.", Role.ASSISTANT) == []
