"""The console's files: who gets them, with which headers, and who is led to them."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from served_kit import Served
from wire_kit import Server

from remembrancer.faces import console

FOLDER = Path(console.__file__).parent / "static"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.js"))


def test_the_page_needs_no_key_and_forbids_all_but_its_own_files(served: Served) -> None:
    found = served.http.get("/console/")
    assert found.status_code == 200
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    policy = found.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "frame-ancestors 'none'" in policy
    assert found.headers["x-content-type-options"] == "nosniff"
    assert served.http.get("/v1/default/banks").status_code == 401


def test_the_page_loads_nothing_but_files_that_are_there(server: Server) -> None:
    page = server.client.get("/console/").text
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    for name in SCRIPTS:
        text = server.client.get(f"/console/{name}").text
        named += re.findall(r'(?:from|import\()\s*"\./([^"]+)"', text)
    assert "app.js" in named
    for name in sorted(set(named)):
        found = server.client.get(f"/console/{name}")
        assert found.status_code == 200, name
        assert found.headers["content-type"].split(";")[0] in {
            "text/javascript",
            "text/css",
            "image/svg+xml",
        }


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_makes_markup_of_a_text(name: str) -> None:
    text = (FOLDER / name).read_text()
    sinks = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|srcdoc"
    assert not re.search(sinks, text)
    assert "localStorage.setItem" not in text or "theme" in text


def test_a_file_that_has_not_changed_is_not_sent_again(server: Server) -> None:
    first = server.client.get("/console/app.js")
    again = server.client.get("/console/app.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["nothing.js", "../pages.py", "%2e%2e/pages.py", "static/app.js"])
def test_other_paths_are_not_there(server: Server, name: str) -> None:
    found = httpx.get(f"{server.url}/console/{name}")
    assert found.status_code == 404


def test_browsers_are_led_to_it_and_programs_are_not(server: Server, served: Served) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    led = server.client.get("/", headers=browser)
    assert (led.status_code, led.headers["location"]) == (307, "console/")
    assert led.headers["vary"] == "Accept"
    assert server.client.get("/").json()["name"] == "Remembrancer"
    assert served.http.get("/", headers=browser).status_code == 307
    assert served.http.get("/").status_code == 401
    bare = server.client.get("/console")
    assert (bare.status_code, bare.headers["location"]) == (307, "console/")


def test_it_is_no_part_of_the_interface_described(server: Server) -> None:
    paths = server.client.get("/openapi.json").json()["paths"]
    assert not [path for path in paths if "console" in path]


def test_it_writes_nothing(server: Server) -> None:
    assert server.client.post("/console/app.js").status_code == 405


def test_it_stands_under_the_path_that_a_proxy_serves_the_server_under(tmp_path: Path) -> None:
    with Served(tmp_path / "data", base_path="/memory") as behind:
        led = behind.http.get("/memory/", headers={"Accept": "text/html"}, follow_redirects=True)
        assert (led.status_code, led.url.path) == (200, "/memory/console/")
        bare = behind.http.get("/memory/console", follow_redirects=True)
        assert (bare.status_code, bare.url.path) == (200, "/memory/console/")
        assert behind.http.get("/memory/console/app.js").status_code == 200
