"""Faces shaped like other memory systems, so that changing an import is enough to move here."""
