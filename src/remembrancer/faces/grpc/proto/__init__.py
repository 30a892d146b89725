"""The messages of `hebbs.v1`, in a descriptor pool of their own.

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


@cache
def pool() -> DescriptorPool:
    """Return the pool, made from `hebbs.binpb` (see `scripts/make_proto.py`)."""
    made = DescriptorPool()
    shipped = files(__name__).joinpath("hebbs.binpb").read_bytes()
    for file in descriptor_pb2.FileDescriptorSet.FromString(shipped).file:
        made.Add(file)
    return made


@cache
def message(name: str) -> Any:
    """Return the class of a message by its name in the package."""
    descriptor = pool().FindMessageTypeByName(f"{PACKAGE}.{name}")
    return message_factory.GetMessageClass(descriptor)


def service(name: str) -> Any:
    """Return the descriptor of a service by its name in the package."""
    return pool().FindServiceByName(f"{PACKAGE}.{name}")
