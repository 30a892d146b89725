"""Compile faces/grpc/proto/hebbs.proto to the descriptor set that the package ships.

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


def main() -> int:
    """Write hebbs.binpb; return the compiler's exit code."""
    return int(
        protoc.main(
            [
                "protoc",
                f"--proto_path={FOLDER}",
                f"--proto_path={INCLUDED}",
                "--include_imports",
                f"--descriptor_set_out={FOLDER / 'hebbs.binpb'}",
                "hebbs.proto",
            ]
        )
    )


if __name__ == "__main__":
    sys.exit(main())
