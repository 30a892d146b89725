#!/bin/sh
# Make a checkout ready: .venv, the locked packages, the package itself, the model files.
# Each step is skipped when its result is there, so a second run needs no network.
# Usage: scripts/setup.sh [PYTHON [--no-clients]]   (default python3)
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3}
clients=${2:---clients}

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

if [ ! -e .venv ]; then
    command -v "$python" >/dev/null || fail "no $python here: install Python 3.11 or newer, or say make PYTHON=/path/to/python3"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "$python is $("$python" -V 2>&1), but 3.11 or newer is needed: say make PYTHON=/path/to/python3.11"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python cannot make virtual environments: install python3-venv (Debian, Ubuntu: apt-get install python3-venv)"
    say "making .venv with $("$python" -V)"
    "$python" -m venv .venv || { rm -rf .venv; fail "python -m venv failed"; }
fi
.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail ".venv is broken or older than Python 3.11: rm -r .venv and run again"

# The copies in .venv say what was installed last.
if ! cmp -s requirements/dev.txt .venv/installed-lock.txt; then
    say "installing the packages of requirements/dev.txt: some minutes, the first time"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --require-hashes -r requirements/dev.txt
    cp requirements/dev.txt .venv/installed-lock.txt
fi
if ! cmp -s pyproject.toml .venv/installed-pyproject.toml; then
    say "installing remembrancer itself, editable"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --no-deps --no-build-isolation --no-index -e .
    cp pyproject.toml .venv/installed-pyproject.toml
fi
.venv/bin/python scripts/fetch_models.py
[ "$clients" != --no-clients ] || exit 0

# The clients of Hindsight, HEBBS and mem0 for tests/wire, LlamaIndex and spaCy for tests/compat, each
# in an environment of its own. Only their tests need them, so a checkout without them works: the tests
# then say what is missing.
install_client() {
    client=$(basename "$1" .txt) home=.venv/clients/$(basename "$1" .txt)
    ! cmp -s "$1" "$home/installed-lock.txt" || return 0
    say "installing $client, a client to test with"
    rm -rf "$home"
    .venv/bin/python -m venv --without-pip "$home" && { [ -z "${2-}" ] || share_packages "$home"; } &&
        .venv/bin/python -m pip --python "$home" install --quiet --disable-pip-version-check \
            --no-compile --require-hashes -r "$1" &&
        cp "$1" "$home/installed-lock.txt" ||
        say "$client could not be installed: its tests will be skipped" >&2
}
share_packages() {
    "$1/bin/python" - "$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" <<'end'
import sys, sysconfig
from pathlib import Path
line = f"import site; site.addsitedir({sys.argv[1]!r})\n"
Path(sysconfig.get_path("purelib"), "shared.pth").write_text(line)
end
}
for lock in requirements/hindsight-*.txt requirements/hebbs-*.txt requirements/mem0-*.txt; do
    [ ! -e "$lock" ] || install_client "$lock" &
done
# These live beside remembrancer and share its packages, so only what they add is installed.
for lock in requirements/llama-index-core-*.txt requirements/spacy-*.txt; do
    [ ! -e "$lock" ] || install_client "$lock" shared &
done
wait
