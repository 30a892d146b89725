"""What statements say of attributes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.nouns.memory import Role
from remembrancer.reading.dates import find_dates
from remembrancer.reading.facts import read_statements
from remembrancer.reading.slots import Context, CustomSlot, Table, standard

NOW = datetime(2024, 6, 12, tzinfo=UTC)


def claims(
    text: str,
    role: Role = Role.USER,
    *,
    speaker: str | None = None,
    table: Table | None = None,
    context: Context | None = None,
) -> list[str]:
    """Return the claims of a turn as "subject: slot = value", with "not" or "once" before them."""
    marks = {1: "", 2: "not ", 3: "once "}
    return [
        f"{marks[claim.stance]}{claim.subject}: {claim.slot} = {claim.value}"
        for statement in read_statements(
            text,
            speaker=speaker,
            role=role,
            known=(),
            dates=lambda t: find_dates(t, NOW),
            table=table,
            context=context,
        )
        for claim in statement.claims
        if not claim.slot.startswith(("thing:", "takes:", "follows:"))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Aachen.", ["self: home = aachen"]),
        ("I've moved from Bonn to Aachen.", ["self: home = aachen"]),
        ("Actually, I live in Aachen, not Bonn.", ["self: home = aachen"]),
        ("I don't live in Bonn anymore.", ["not self: home = bonn"]),
        (
            "I used to live in Bonn, now I live in Aachen.",
            ["once self: home = bonn", "self: home = aachen"],
        ),
        ("I lived in Bonn from 2010 to 2014.", ["once self: home = bonn"]),
        ("I got promoted to head chef.", ["self: role = head chef"]),
        ("I'm a plumber at Drainworks.", ["self: role = plumber", "self: employer = drainworks"]),
        ("I quit my job.", ["not self: employer = "]),
        ("I'm no longer vegan.", ["not self: diet = vegan"]),
        ("I can't stand beetroot.", ["self: likes:beetroot = dislikes"]),
        (
            "I used to love beetroot but now I hate it.",
            ["once self: likes:beetroot = likes", "self: likes:beetroot = dislikes"],
        ),
        ("My favourite colour is ochre.", ["self: favorite color = ochre"]),
        ("My rent went up to 980 euros a month.", ["self: rent = 980 euro"]),
        ("The team has six engineers.", ["team: n:have:engineer = 6"]),
        ("We upgraded to Django 5.0.", ["self: version:django = 5.0"]),
        ("We upgraded the build server to Debian 12.", ["build server: version:debian = 12"]),
        ("The recital was moved to Thursday.", ["recital: when = thursday"]),
        ("The recital was cancelled.", ["not recital: when = "]),
        ("Priya took over the mailer from Tom.", ["mailer: owner = priya"]),
        ("The owner of the mailer is Tom.", ["mailer: owner = tom"]),
        ("I stopped drinking coffee.", ["not self: does:drink = coffee"]),
        ("We gave our cat Miso away.", ["not self: pet = cat miso"]),
        (
            "I'm allergic to nuts and mussels.",
            ["self: allergy = nuts", "self: allergy = mussels"],
        ),
        ("I prefer aisle seats.", ["self: prefers:seat = aisle"]),
        ("Please call me Alex.", ["self: name = alex"]),
        ("User's favorite drink is mate.", ["self: favorite drink = mate"]),
        ("Ich wohne nicht mehr in Jena.", ["not self: home = jena"]),
        ("Meine Schwester arbeitet bei Zeiss.", ["self's schwester: employer = zeiss"]),
        ("Je ne suis plus végétarien.", ["not self: diet = vegetarien"]),
        ("Ahora vivo en Bilbao.", ["self: home = bilbao"]),
        ("I have a caravan.", ["self: does:have = caravan"]),
        ("I don't own a caravan anymore.", ["not self: does:have = caravan"]),
        ("The lift is not working anymore.", ["not lift: state:broken = working"]),
        ("The canteen accepts vouchers.", ["canteen: does:accept = voucher"]),
        ("The canteen no longer accepts vouchers.", ["not canteen: does:accept = voucher"]),
        ("The kiosk never sells stamps.", ["not kiosk: does:sell = stamp"]),
        (
            "We use Pivotal as our bug list.",
            ["self: uses = pivotal", "self: bug list = pivotal"],
        ),
        (
            "We switched to Trac as our bug list.",
            ["self: uses = trac", "self: bug list = trac"],
        ),
        ("I switched banks to Sparfuchs.", ["self: bank = sparfuchs"]),
        ("We switched our insurer to Nordlicht.", ["self: insurer = nordlicht"]),
        ("I was wrong, my landlord is Kovacs.", ["self: landlord = kovacs"]),
        ("No, wait, the florist is Petalia.", ["self: florist = petalia"]),
        ("I gave you the wrong code: my pin is 2210.", ["self: pin = 2210"]),
        ("Ich fahre jetzt einen Opel.", ["self: car = opel"]),
        ("Ya no fumo.", ["not self: does:fumo = "]),
        ("El color favorito de Carla es el verde.", ["carla: favorite color = verde"]),
    ],
)
def test_statements_claim(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My rent is €1,200.", ["self: rent = 1200"]),
        ("My salary went up to $85,500 a year.", ["self: salary = 85500"]),
        ("The budget was raised to 12,500 dollars.", ["self: budget = 12500 dollar"]),
        ("The permit costs $1,500.50 a month.", ["permit: price = 1500.50"]),
        ("We have 1,234,567 readers.", ["self: n:have:reader = 1234567"]),
        ("The temperature is -5 degrees.", ["self: temperature = -5 degree"]),
        ("The temperature is 5 degrees.", ["self: temperature = 5 degree"]),
        ("The balance is -20 euros.", ["balance: n:euro = -20"]),
        ("The balance is now -€1,020.", ["balance: n: = -1020"]),
        ("I weigh 82.5 kg.", ["self: weight = 82.5 kg"]),
        ("My phone number is 555-0199.", ["self: phone = 555-0199"]),
    ],
)
def test_numbers_keep_their_thousands_and_their_sign(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I'm allergic to nuts, shellfish and eggs.", ["nuts", "shellfish", "eggs"]),
        ("I'm allergic to dairy, soy, and latex.", ["dairy", "soy", "latex"]),
        ("Tom is allergic to milk, eggs or wheat.", ["milk", "eggs", "wheat"]),
        ("I have an allergy to cat hair, pollen and dust.", ["cat hair", "pollen", "dust"]),
        ("I use Vim, Git and Docker.", ["vim", "git", "docker"]),
        ("I don't use Git, Mercurial or Bazaar anymore.", ["git", "mercurial", "bazaar"]),
        ("I use a hammer, a saw and a drill.", ["hammer", "saw", "drill"]),
        ("I use both Vim and Git.", ["vim", "git"]),
        ("I use Vim at work and Git for everything.", ["vim", "git"]),
        ("My team uses Jira, Slack, etc.", ["jira", "slack"]),
        # names that are verbs, too
        ("I use Python, Rust and Go at work.", ["python", "rust", "go"]),
        ("I use React and Express for my site.", ["react", "express"]),
        ("I use docker and go.", ["docker", "go"]),
        ("I USE DOCKER AND GO TO WORK.", ["docker"]),
        ("I'm allergic to nuts, shellfish.", ["nuts", "shellfish"]),
        # what is no item of the list
        ("I'm allergic to nuts, Tom.", ["nuts"]),
        ("I'm allergic to nuts, severely.", ["nuts"]),
        ("I'm allergic to nuts, which is sad.", ["nuts"]),
        ("I use Git, not Mercurial or Bazaar.", ["git"]),
        ("I use Postgres, a database, for work.", ["postgres"]),
        ("I use Vim and my brother uses Emacs.", ["vim"]),
        ("I use the editor she recommended.", ["editor she recommended"]),
    ],
)
def test_a_list_has_as_many_values(text: str, values: list[str]) -> None:
    assert [claim.partition(" = ")[2] for claim in claims(text)] == values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("After I moved to Berlin I met Tom.", ["self: home = berlin"]),
        ("Since I joined Acme I sleep badly.", ["self: employer = acme"]),
        ("Now that I live in Berlin I don't need a car.", ["self: home = berlin"]),
        ("Before I moved to Berlin we often ate out.", ["self: home = berlin"]),
        ("I live in Rome, you should visit.", ["self: home = rome"]),
        ("Tom lives in Rome, Mia lives in Oslo.", ["tom: home = rome"]),
        ("I live in Rome, the capital of Italy.", ["self: home = rome"]),
        ("I work at Acme, a big company.", ["self: employer = acme"]),
        ("My favourite city is Rome, the capital of Italy.", ["self: favorite city = rome"]),
        ("My favourite colour is blue, the sky is grey.", ["self: favorite color = blue"]),
        ("I drink coffee, Ann drinks tea.", ["self: does:drink = coffee"]),
        ("The meeting is on Monday, Ann moved the other one.", ["meeting: when = monday"]),
        ("The meeting is on Monday, the 5th, at noon.", ["meeting: when = monday the 5th at noon"]),
        ("My address is 5 High Street, Rome, Italy.", ["self: address = 5 high street rome italy"]),
        ("My favourite band is Earth, Wind.", ["self: favorite band = earth wind"]),
        ("I live in Rome, Italy.", ["self: home = rome italy"]),
        ("I live in Springfield, Illinois, with my wife.", ["self: home = springfield illinois"]),
        ("I moved to Bari, Italy on May 5, 2024.", ["self: home = bari italy"]),
        ("Thanks, Tom, I live in Rome.", ["self: home = rome"]),
        ("I love the songs she writes.", ["self: likes:songs she writes = likes"]),
    ],
)
def test_a_value_ends_before_another_clause(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Tom doesn't live in Oslo, he lives in Rome.",
            ["not tom: home = oslo", "tom: home = rome"],
        ),
        (
            "My sister lives in Rome, she works at Acme.",
            ["self's sister: home = rome", "self's sister: employer = acme"],
        ),
        ("Mia works at Acme, she loves it.", ["mia: employer = acme"]),
        ("I work at Acme, they pay well.", ["self: employer = acme"]),
        (
            "I live in Oslo, my sister lives in Rome.",
            ["self: home = oslo", "self's sister: home = rome"],
        ),
        (
            "We moved to Rome, our rent is 900 euros.",
            ["self: home = rome", "self: rent = 900 euro"],
        ),
        (
            "The recital is on Tuesday, it was moved to Friday.",
            ["recital: when = tuesday", "recital: when = friday"],
        ),
        (
            "My favourite colour isn't blue, it's green.",
            ["not self: favorite color = blue", "self: favorite color = green"],
        ),
        (
            "My rent isn't 900 euros; it's 950 euros.",
            ["not self: rent = 900 euro", "self: rent = 950 euro"],
        ),
        ("My favourite colour is blue, it's lovely.", ["self: favorite color = blue"]),
        ("My favourite band is Low, it's a trio.", ["self: favorite band = low"]),
        ("I gave Tom, my brother, a book.", []),
        ('He said "I live in Rome, my sister lives in Oslo".', []),
    ],
)
def test_a_comma_before_a_pronoun_and_its_verb_opens_a_clause(
    text: str, expected: list[str]
) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My coworker Dana lives in Porto.", ["dana: home = porto"]),
        ("My sister moved to Turin.", ["self's sister: home = turin"]),
        ("My sister no longer lives in Turin.", ["not self's sister: home = turin"]),
        ("Milena no longer works at Acme.", ["not milena: employer = acme"]),
        ("Marek's favourite food is ramen.", ["marek: favorite food = ramen"]),
        (
            "My brother Tom works at Acme. He moved to Rome.",
            ["tom: employer = acme", "tom: home = rome"],
        ),
        ("She lives in Rome.", []),
        ("Her name is Ella.", []),
        ("Ann met Eve. She lives in Rome.", []),
    ],
)
def test_third_persons_keep_what_is_theirs(text: str, expected: list[str]) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Should I move to Prague?",
        "If I lived in Prague, I would drink more beer.",
        "I want to move to Vienna.",
        "I'm moving to Vienna next month.",
        "Maybe my favorite color is red.",
        'He said "I live in Rome".',
        "Wohne ich in Jena?",
        "Ich möchte in Jena wohnen.",
        "`my favorite color is red`",
        "My favorite color is {{color}}.",
        "The weather is nice.",
        "I worked at home yesterday.",
        "Last night I joined a fishing club.",
        "I haven't read that yet.",
        "My manager is great.",
        "I have a headache today because of the noise.",
        "I have to go.",
        "Ich fahre einen Umweg?",
    ],
)
def test_what_is_no_fact_claims_nothing(text: str) -> None:
    assert claims(text) == []


def test_an_assistant_claims_nothing() -> None:
    assert claims("I live in the cloud. My favorite color is blue.", Role.ASSISTANT) == []
    assert claims("Ich wohne in Jena.", Role.ASSISTANT) == []


def test_a_named_speaker_is_the_subject() -> None:
    assert claims("My rent is 700 euros.", Role.NONE, speaker="Ann") == ["ann: rent = 700 euro"]


def test_a_bare_correction_takes_the_slot_of_what_was_said_before() -> None:
    context = Context()
    claims("My aunt lives in Nice.", context=context)
    assert claims("Sorry, I meant Cannes.", context=context) == ["self's aunt: home = cannes"]
    assert claims("Sorry, I meant well.") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sorry, I meant 1,350.", ["self: rent = 1350 euro"]),
        ("Make that 1,350 euros, not 1,200.", ["self: rent = 1350 euro"]),
        ("I meant not 1,200 but 1,350.", ["self: rent = 1350 euro"]),
        ("Correction: -20.", ["self: rent = -20 euro"]),
        ("Sorry, I meant 900, 950 or so.", []),
    ],
)
def test_a_number_is_corrected_whole(text: str, expected: list[str]) -> None:
    context = Context()
    claims("My rent is 1,200 euros.", context=context)
    assert claims(text, context=context) == expected


def test_it_is_what_was_spoken_of() -> None:
    context = Context()
    claims("The recital is on Tuesday.", context=context)
    assert claims("It was moved to Friday.", context=context) == ["recital: when = friday"]
    assert claims("It was moved to Friday.") == []
    claims("My favourite band is Low.", context=context)
    assert claims("It was so enriching! It's a classic.", context=context) == []


def test_a_bank_adds_slots() -> None:
    table = standard().extended(
        (
            CustomSlot("blood sugar", nouns=("glucose", "blood sugar")),
            CustomSlot("mentor", phrases=("am mentored by {value}",)),
        )
    )
    assert claims("My glucose is 5.4.", table=table) == ["self: blood sugar = 5.4"]
    assert claims("I am mentored by Ruth.", table=table) == ["self: mentor = ruth"]
    assert claims("Ann is mentored by Ruth.", table=table) == ["ann: mentor = ruth"]
    assert claims("I am mentored by Ruth.") == []
