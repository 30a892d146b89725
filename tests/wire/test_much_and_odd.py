"""Large contents and odd bytes: all of it is kept, and what is not is told."""

from __future__ import annotations

from told_kit import Mind


def test_the_end_of_a_long_document_is_found_as_its_beginning(mind: Mind) -> None:
    parts = [f"Box {n} holds {n * 7} old coins from the cellar of the mill." for n in range(1_600)]
    parts[0], parts[800], parts[-1] = (
        "The first box belongs to Ines.",
        "The middle box belongs to Otto.",
        "The last box belongs to Piet.",
    )
    content = " ".join(parts)
    assert len(content) > 90_000
    done = mind.retain({"content": content, "document_id": "boxes"})
    assert (done["coverage"], done["chunks_read_count"]) == (1.0, done["chunks_count"])
    for which, who in (("first", "Ines"), ("middle", "Otto"), ("last", "Piet")):
        assert who in mind.texts(f"Whose is the {which} box? belongs to {who}")[0]
    assert mind.ask("GET", "/documents/boxes")["original_text"] == content


def test_it_is_told_how_much_became_memories(mind: Mind) -> None:
    whole = mind.retain("I feed geese.\n\nI paint boats.")
    assert whole["coverage"] == 1.0
    aside = '{"title": "' + "y" * 400 + '", "messages": [{"role": "user", "content": "I ski."}]}'
    part = mind.retain(aside)
    assert 0 < part["coverage"] < 0.1
    assert mind.texts("Do I ski?") == ["I ski."]


def test_bytes_that_are_no_utf8_are_read_or_refused_and_the_rest_stays(mind: Mind) -> None:
    def upload(name: str, data: bytes) -> dict[str, object]:
        answer = mind.served.http.post(
            f"/v1/default/banks/{mind.bank}/files/retain",
            files=[("files", (name, data, "text/markdown"))],
            headers={"Authorization": f"Bearer {mind.key}"},
        )
        return {"status": answer.status_code, **answer.json()}

    mind.retain("I feed geese.")
    assert upload("notes.md", "Ines likes the caf\xe9 mode.".encode("latin-1"))["status"] == 200
    assert mind.texts("geese") == ["I feed geese."]
    body = b'{"items": [{"content": "caf\xe9"}]}'
    refused = mind.served.http.post(
        f"/v1/default/banks/{mind.bank}/memories",
        content=body,
        headers={"Authorization": f"Bearer {mind.key}", "Content-Type": "application/json"},
    )
    assert refused.status_code in {400, 422}
    assert "UTF-8" in refused.text
    assert mind.texts("geese") == ["I feed geese."]
