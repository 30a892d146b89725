"""In place of the Agents SDK's sessions; needs `pip install 'remembrancer[openai-agents]'`."""

from ..faces.compat.openai_agents import RemembrancerSession

__all__ = ["RemembrancerSession"]
