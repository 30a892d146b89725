"""A long-term memory block for LlamaIndex; needs `pip install 'remembrancer[llamaindex]'`."""

from ..faces.compat.llamaindex import RemembrancerMemoryBlock

__all__ = ["RemembrancerMemoryBlock"]
