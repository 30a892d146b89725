"""The messages of `hebbs.v1` and of `remembrancer.v1`, in a descriptor pool of their own.

One process can so import another package's generated code for the same protocol beside this.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.descriptor_pool import DescriptorPool

PACKAGE = "hebbs.v1"

SERVICES = ("MemoryService", "SubscribeService", "ReflectService", "HealthService")

OWN_PACKAGE = "remembrancer.v1"

OWN_SERVICES = ("IntentionService", "AnswerService")

_SETS = ("hebbs.binpb", "remembrancer.binpb")


@cache
def pool() -> DescriptorPool:
    """Return the pool, made from the descriptor sets here (see `scripts/make_proto.py`)."""
    made = DescriptorPool()
    known: set[str] = set()
    for name in _SETS:
        shipped = files(__name__).joinpath(name).read_bytes()
        for file in descriptor_pb2.FileDescriptorSet.FromString(shipped).file:
            if file.name not in known:  # both hold what they import
                known.add(file.name)
                made.Add(file)
    return made


@cache
def message(name: str, package: str = PACKAGE) -> Any:
    """Return the class of a message by its name in a package."""
    descriptor = pool().FindMessageTypeByName(f"{package}.{name}")
    return message_factory.GetMessageClass(descriptor)


def service(name: str, package: str = PACKAGE) -> Any:
    """Return the descriptor of a service by its name in a package."""
    return pool().FindServiceByName(f"{package}.{name}")
