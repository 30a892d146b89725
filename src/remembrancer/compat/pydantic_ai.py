"""Tools and instructions for Pydantic AI; needs `pip install 'remembrancer[pydantic-ai]'`."""

from ..faces.compat.pydantic_ai import RemembrancerToolset

__all__ = ["RemembrancerToolset"]
