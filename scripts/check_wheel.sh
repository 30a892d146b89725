#!/bin/sh
# Installs the built wheel without the network into an empty virtual environment and recalls with it.
#
#     scripts/check_wheel.sh dist/remembrancer-*.whl
#
# The packages that it needs are downloaded first, into build/wheelhouse; from then on nothing is.
set -eu

wheel=$1
work=build/wheel-check
python=${PYTHON:-python3}
offline=
if unshare -n true 2>/dev/null; then offline="unshare -n"; fi

rm -rf "$work"
mkdir -p "$work" build/wheelhouse
.venv/bin/pip download --quiet --require-hashes --only-binary :all: --dest build/wheelhouse \
    -r requirements/core.txt
"$python" -m venv "$work/venv"
echo "wheel: installing ${wheel##*/} ${offline:+with the network cut}"
$offline "$work/venv/bin/pip" install --quiet --no-index --find-links build/wheelhouse "$wheel"
cd "$work"
printf 'Ann: I moved to Berlin in May.\nBob: I bought a red cello.\n' > chat.txt
$offline venv/bin/remembrancer retain chat.txt --bank ann --data data
$offline venv/bin/remembrancer recall "Where does Ann live?" --bank ann --data data --limit 1 \
    | tee answer.txt
grep -q Berlin answer.txt
echo "wheel: recalls"
