"""Models behind small protocols: embedders now; rerankers and LLM clients later."""
