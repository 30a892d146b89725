"""In place of LangGraph's stores; needs `pip install 'remembrancer[langgraph]'`."""

from ..faces.compat.langgraph import RemembrancerStore

__all__ = ["RemembrancerStore"]
