"""A process that keeps a memory open: retains documents, then answers questions from stdin.

    python library_process.py FOLDER DOCUMENTS

Prints `open`, then `kept NAME` for each acknowledged document, then `ready`; then for each line of
stdin a line with the texts found, separated by tabs.
"""

from __future__ import annotations

import sys

import remembrancer

with remembrancer.open(sys.argv[1], embedder="hash:64") as memory:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[2])):
        text = f"The locker of box{number} is painted green{number}."
        memory.retain(text, bank="shared", document=f"library-{number}")
        print(f"kept library-{number}", flush=True)
    print("ready", flush=True)
    for line in sys.stdin:
        found = memory.recall(line, bank="shared", limit=3)
        print("\t".join(answer.text for answer in found), flush=True)
