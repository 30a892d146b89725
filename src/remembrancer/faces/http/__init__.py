"""The HTTP face: FastAPI routes over the verbs."""
