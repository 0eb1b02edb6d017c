"""Ask a model every item of a split: prompts, shots, batching, resume."""
