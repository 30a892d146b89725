"""Compile the files of faces/grpc/proto to the descriptor sets that the package ships.

Needs grpcio-tools, which nothing else does; give it an environment of its own:

    python -m venv build/proto && build/proto/bin/pip install grpcio-tools
    build/proto/bin/python scripts/make_proto.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from grpc_tools import protoc

FOLDER = Path(__file__).parents[1] / "src/remembrancer/faces/grpc/proto"
INCLUDED = Path(protoc.__file__).parent / "_proto"
NAMES = ("hebbs", "remembrancer")


def main() -> int:
    """Write a .binpb beside each file; return the compiler's exit code, 0 when all went well."""
    return max(compiled(name) for name in NAMES)


def compiled(name: str) -> int:
    """Compile one file; return the compiler's exit code."""
    return int(
        protoc.main(
            [
                "protoc",
                f"--proto_path={FOLDER}",
                f"--proto_path={INCLUDED}",
                "--include_imports",
                f"--descriptor_set_out={FOLDER / f'{name}.binpb'}",
                f"{name}.proto",
            ]
        )
    )


if __name__ == "__main__":
    sys.exit(main())
