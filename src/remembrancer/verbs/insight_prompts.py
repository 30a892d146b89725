"""What a caller's own model is told, to make insights of a cluster of memories."""

from __future__ import annotations

from .insights import Cluster

SYSTEM = (
    "You are given memories that are about one thing. Say what they show together, in statements "
    "that none of them makes alone. Take nothing from elsewhere. Answer with a JSON array of "
    'objects: {"content": text, "confidence": 0 to 1, "source_memory_ids": ids of the memories '
    'that it rests on, "tags": words}. Answer with [] when they show nothing.'
)
CHECK = (
    "Accept a statement only if the memories it names support all of it; reject what is merely "
    "likely, and what one of them says already."
)


def spelled(cluster: Cluster) -> str:
    """Return the memories of a cluster, a line each, with their ids."""
    return "\n".join(f"{kept.unit.id.hex()}: {kept.unit.text}" for kept in cluster.members)
