"""Parts of mental models, consolidation and knowledge pages."""
