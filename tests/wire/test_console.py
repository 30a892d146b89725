"""The console in a real browser, at desktop and phone width: what people see and do there."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser_kit import Visitor, chromium
from served_kit import Served
from wire_kit import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = (
    'Nora sells boats. <img src="x" onerror="window.hit=1"><script>window.hit=2</script>'
    '<a href="javascript:window.hit=3">press</a> [click](javascript:alert(4)) **bold** '
    "</textarea></pre></title><svg/onload=alert(5)> {{7*7}} ${window.hit=6} &lt;b&gt;"
)
CHAT = "Ann: 🏡 I live in Lisbon. My sister Rosa sells flowers in Ghent.\nAssistant: Noted."
MOVED = "Ann: I moved to Ghent. Rosa works with Tom Sels.\nAssistant: Congratulations!"

_COLOURFUL = {"timeline", "search", "memory", "prime", "intentions"}  # checked in the dark, too

Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")  # the event loop that it leaves running is nobody else's
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Visit]:
    """Open windows, and check at the end that nothing went wrong in any of them."""
    made: list[Visitor] = []

    def come(size: str = "wide", scheme: str = "light", url: str = server.url) -> Visitor:
        made.append(Visitor(browser, url, size, scheme))
        return made[-1]

    yield come
    for visitor in made:
        visitor.close()
    assert [fault for visitor in made for fault in visitor.faults] == []


def told(server: Server, bank: str, rest: str, **query: Any) -> Any:
    answer = server.client.get(f"/v1/default/banks/{bank}/{rest}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def fill(server: Server, bank: str) -> dict[str, str]:
    """Give a bank something to look at; return the ids of a memory and of a fact."""
    early = {"timestamp": "2025-03-04T18:20:00Z", "document_id": "talks/one"}
    late = {"timestamp": "2026-06-12T09:00:00Z", "document_id": "talks/two", "tags": ["home"]}
    server.retain(bank, {"content": CHAT, **early}, {"content": MOVED, **late})
    path = f"/v1/default/banks/{bank}/intentions"
    plans = [
        {"content": "water the plants", "at": "every day at 8", "zone": "Europe/Berlin"},
        {"content": "send the tax return", "triggerAt": time.time_ns() // 1_000_000 - 60_000},
    ]
    assert server.post(path, {"items": plans}).status_code == 201
    [memory] = told(server, bank, "memories/list", q="moved to Ghent")["items"]
    [first] = told(server, bank, "memories/list", q="sister Rosa")["items"]
    [fact] = [each for each in first["facts"] if "sister" in each["text"]]
    return {"memory": memory["id"], "fact": fact["id"]}


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("phone", "dark")])
def test_every_page_shows_what_is_kept_and_can_be_read_by_all(
    visit: Visit, server: Server, bank: str, size: str, scheme: str
) -> None:
    ids = fill(server, bank)
    visitor = visit(size, scheme)
    rosa = told(server, bank, "entities", q="Rosa")["items"][0]["id"]
    pages = {
        "banks": ("#/banks", "Banks", bank),
        "timeline": (f"#/b/{bank}/timeline", "Timeline", "I moved to Ghent."),
        "search": (f"#/b/{bank}/search?q=Where+do+I+live", "Search", "alike in meaning"),
        "memory": (f"#/b/{bank}/memory/{ids['memory']}", "Memory", "home"),
        "fact": (f"#/b/{bank}/memory/{ids['fact']}", "Fact", "Read from"),
        "prime": (f"#/b/{bank}/prime", "Prime", "Known:"),
        "intentions": (f"#/b/{bank}/intentions", "Intentions", "water the plants"),
        "entities": (f"#/b/{bank}/entities", "Entities", "Tom Sels"),
        "entity": (f"#/b/{bank}/entities/{rosa}", "Rosa", "together"),
        "documents": (f"#/b/{bank}/documents", "Documents", "talks/two"),
        "document": (f"#/b/{bank}/document/talks%2Ftwo", "talks/two", "Congratulations!"),
        "operations": (f"#/b/{bank}/operations", "Operations", "No operations."),
        "keys": ("#/keys", "API keys", "asks for no key"),
        "policy": ("#/policy", "Forgetting policy", "Half-life"),
    }
    for name, (path, heading, text) in pages.items():
        visitor.open(path, heading)
        visitor.page.locator("main").get_by_text(text).first.wait_for()
        visitor.check_reading()
        visitor.shoot(name)


def test_a_fact_is_marked_where_it_stands_in_its_source(
    visit: Visit, server: Server, bank: str
) -> None:
    ids = fill(server, bank)
    visitor = visit()
    visitor.open(f"#/b/{bank}/memory/{ids['fact']}", "Fact")
    marks = visitor.page.locator("main mark").all_inner_texts()
    assert marks == [
        "My sister Rosa sells flowers in Ghent."
    ]  # the emoji before it is one character
    visitor.page.get_by_role("link", name="Open the memory it stands in").click()
    visitor.page.get_by_role("heading", level=1, name="Memory").wait_for()
    assert "🏡 I live in Lisbon." in visitor.main_text()


def test_a_text_full_of_tricks_stays_text(visit: Visit, server: Server, bank: str) -> None:
    item = {"content": HOSTILE, "document_id": HOSTILE[:200], "tags": ["<i>tag</i>"]}
    item["context"] = "<img src=x onerror=alert(1)>"
    server.retain(bank, item)
    visitor = visit()
    [memory] = told(server, bank, "memories/list")["items"]
    fact = memory["facts"][0]["id"]
    for path in (
        "timeline",
        "search?q=Who+sells+boats",
        f"memory/{memory['id']}",
        f"memory/{fact}",
        "prime",
        "documents",
        "entities",
    ):
        visitor.open(f"#/b/{bank}/{path}")
        main = visitor.page.locator("main")
        if path not in {"entities", "documents"}:
            assert "window.hit=2</script>" in main.inner_text(), path
        made = main.locator("img, script, iframe, a[href^='javascript'], main b, i:not([class])")
        assert made.count() == 0, path
        assert visitor.page.evaluate("window.hit") is None
    visitor.open(f"#/b/{bank}/memory/{memory['id']}")
    visitor.page.get_by_role("button", name="Correct").click()
    assert visitor.page.get_by_label("Text", exact=True).input_value() == HOSTILE


def test_a_memory_is_corrected_taken_out_brought_back_and_forgotten(
    visit: Visit, server: Server, bank: str
) -> None:
    ids = fill(server, bank)
    visitor, page = (made := visit("phone")), made.page
    visitor.open(f"#/b/{bank}/memory/{ids['memory']}", "Memory")
    page.get_by_role("button", name="Correct").click()
    page.get_by_label("Text", exact=True).fill("I moved to Bruges.")
    page.get_by_label("Reason").fill("misheard")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("misheard").wait_for()
    assert told(server, bank, f"memories/{ids['memory']}")["text"] == "I moved to Bruges."

    page.get_by_role("button", name="Take out").click()
    page.get_by_role("dialog").get_by_role("button", name="Take out").click()
    page.get_by_text("neither recalled nor primed.").wait_for()
    page.get_by_role("button", name="Bring back").click()
    page.get_by_role("button", name="Take out").wait_for()
    assert told(server, bank, f"memories/{ids['memory']}")["state"] == "valid"

    page.get_by_role("button", name="Forget").click()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    assert told(server, bank, f"memories/{ids['memory']}")["state"] == "valid"
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget for good").click()
    page.get_by_role("heading", level=1, name="Timeline").wait_for()
    assert told(server, bank, "memories/list", q="Bruges")["total"] == 0


def test_what_falls_due_is_shown_at_once_and_snoozed_or_acknowledged(
    visit: Visit, server: Server, bank: str
) -> None:
    fill(server, bank)
    visitor, page = (made := visit()), made.page
    visitor.open(f"#/b/{bank}/intentions", "Intentions")
    due = page.get_by_role("region", name="Due now")
    page.get_by_role("navigation", name="Console").get_by_text("1 due").wait_for()
    assert due.get_by_text("send the tax return").is_visible()
    tomorrow = page.get_by_role("table").get_by_text("water the plants")
    page.get_by_role("button", name="Month after").click()
    assert tomorrow.count() >= 28  # of a month with at least 28 days

    due.get_by_role("button", name="Snooze", exact=True).click()
    due.wait_for(state="detached")
    [occurrence] = told(server, bank, "occurrences")["items"]
    assert occurrence["state"] == "snoozed"

    soon = time.time_ns() // 1_000_000 + 500
    path = f"/v1/default/banks/{bank}/intentions"
    assert server.post(path, {"content": "ring the bell", "triggerAt": soon}).status_code == 201
    due.get_by_text("ring the bell").wait_for()  # nobody has reloaded
    due.get_by_role("button", name="Acknowledge").click()
    due.wait_for(state="detached")
    states = {
        o["intention"]["content"]: o["state"] for o in told(server, bank, "occurrences")["items"]
    }
    assert states == {"send the tax return": "snoozed", "ring the bell": "acked"}

    assert page.evaluate("document.activeElement.id") == "main"  # not lost with its button

    page.get_by_role("button", name="Add").click()
    page.get_by_label("What is to be done").fill("call Bob")
    page.get_by_label("When", exact=True).fill("never in my life")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Add").click()
    dialog.get_by_role("alert").filter(has_text=re.compile("at")).wait_for()
    page.get_by_label("When", exact=True).fill("every monday at 8")
    dialog.get_by_role("button", name="Add").click()
    page.get_by_text("call Bob").first.wait_for()


def test_a_tab_that_nobody_sees_holds_no_connection(
    visit: Visit, server: Server, bank: str
) -> None:
    fill(server, bank)
    visitor, page = (made := visit()), made.page
    visitor.open(f"#/b/{bank}/timeline", "Timeline")
    banner = page.get_by_role("banner")
    banner.get_by_text("Live").wait_for()
    turn = """(to) => {
        Object.defineProperty(document, "visibilityState", { value: to, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    with page.expect_event("requestfailed", lambda request: "stream" in request.url):
        page.evaluate(turn, "hidden")
    banner.get_by_text("Offline").wait_for()
    page.evaluate(turn, "visible")
    banner.get_by_text("Live").wait_for()


def test_a_timeline_tells_when_its_bank_has_changed(
    visit: Visit, server: Server, bank: str
) -> None:
    fill(server, bank)
    visitor, page = (made := visit()), made.page
    page.clock.install()
    with page.expect_response(re.compile(f"banks.q={bank}")):
        visitor.open(f"#/b/{bank}/timeline", "Timeline")
    server.retain(bank, "Ann: I bought a red bicycle.")
    page.clock.fast_forward(6_000)
    page.get_by_role("button", name="Show what is new").click()
    page.get_by_text("red bicycle").first.wait_for()


def test_a_file_is_uploaded_and_read(
    visit: Visit, server: Server, bank: str, tmp_path: Path
) -> None:
    file = tmp_path / "ferry.md"
    file.write_text("# Boarding\n\nThe ferry to Oslo leaves from pier nine.\n")
    visitor, page = (made := visit()), made.page
    visitor.open(f"#/b/{bank}/documents", "Documents")
    assert "No documents yet." in visitor.main_text()
    page.get_by_label("Choose files").set_input_files(file)
    page.get_by_role("link", name="ferry.md").click()
    page.get_by_role("heading", level=1, name="ferry.md").wait_for()
    assert "pier nine" in visitor.main_text()
    visitor.open(f"#/b/{bank}/operations", "Operations")
    row = page.get_by_role("row").filter(has_text="file retain")
    row.get_by_text("Done").wait_for()
    row.get_by_role("button", name="Drop").click()
    page.get_by_text("No operations.").wait_for()


def test_prime_shows_the_text_that_a_model_gets(visit: Visit, server: Server, bank: str) -> None:
    fill(server, bank)
    visitor, page = (made := visit()), made.page
    visitor.open(f"#/b/{bank}/prime", "Prime")
    exact = page.get_by_label("The exact text")
    asked = {"entity_id": bank, "format": "text", "reinforce": False, "max_memories": 1}
    asked["zone"] = "Europe/Berlin"
    one = server.post("/v1/prime", asked).json()["text"]
    assert exact.inner_text() != one
    slider = page.get_by_label("Memories", exact=True)
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_text(re.compile("1 memory: ")).wait_for()
    assert exact.inner_text().strip() == one.strip()
    used = server.post("/v1/prime", {**asked, "max_memories": 9}).json()["results"]
    assert [each["access_count"] for each in used] == [0] * len(used)


def test_a_server_with_keys_asks_for_one_and_shows_what_it_permits(
    visit: Visit, served: Served
) -> None:
    tenant = f"tenant-{time.time_ns()}"
    admin, reader = served.key(tenant), served.key(tenant, "read")
    item = {"items": [{"content": "Mia lives in Porto."}]}
    assert served.ask(admin, "POST", "/v1/default/banks/mia/memories", item).status_code == 200

    visitor, page = (made := visit("phone", url=served.url)), made.page
    visitor.open("#/b/mia/timeline", "Sign in")
    visitor.check_reading()
    visitor.shoot("signin")
    page.get_by_label("API key").fill("rmb_of_nobody")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").filter(has_text="unknown API key").wait_for()
    page.get_by_label("API key").fill(reader)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Mia lives in Porto.").first.wait_for()
    assert page.get_by_role("link", name="API keys").count() == 0
    visitor.open("#/b/mia/documents", "Documents")
    assert page.get_by_label("Choose files").count() == 0
    assert page.evaluate("JSON.stringify(localStorage) + document.cookie") == "{}"
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", level=1, name="Sign in").wait_for()
    assert page.evaluate("JSON.stringify(sessionStorage)") == "{}"

    page.get_by_label("API key").fill(admin)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="API keys").click()
    page.get_by_role("button", name="Make a key").click()
    page.get_by_label("Who uses it").fill("support desk")
    page.get_by_role("dialog").get_by_role("button", name="Make key").click()
    secret = page.get_by_label("The key", exact=True).inner_text()
    assert served.ask(secret, "GET", "/v1/auth/whoami").json()["name"] == "support desk"
    page.get_by_role("button", name="I have it").click()
    visitor.check_reading()
    page.get_by_role("button", name="Revoke support desk").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    page.get_by_text("revoked").first.wait_for()
    assert served.ask(secret, "GET", "/v1/auth/whoami").status_code == 401


def test_the_keyboard_leads_everywhere(visit: Visit, server: Server, bank: str) -> None:
    fill(server, bank)
    visitor, page = (made := visit()), made.page
    visitor.open(f"#/b/{bank}/timeline", "Timeline")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    page.keyboard.type("Where do I live?")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="What held when").get_by_role("table").wait_for()
    page.get_by_role("link", name="Search", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name="Search").wait_for()
    assert page.evaluate("document.activeElement.id") == "main"
    theme = page.get_by_role("button", name="Theme")
    theme.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_what_goes_wrong_is_told_with_a_way_on(visit: Visit, server: Server, bank: str) -> None:
    visitor, page = (made := visit()), made.page
    visitor.open(f"#/b/{bank}/timeline", "Timeline")
    assert "Nothing is remembered here yet." in visitor.main_text()
    page.get_by_role("link", name="Upload a document").click()
    page.get_by_role("heading", level=1, name="Documents").wait_for()
    page.route("**/v1/default/**", lambda route: route.abort())
    page.get_by_label("Name holds").fill("x")
    page.get_by_role("alert").get_by_text("The server does not answer.").wait_for()
    page.unroute_all(behavior="ignoreErrors")
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("No document has that name.").wait_for()
    visitor.faults = [each for each in visitor.faults if "ERR_FAILED" not in each]
