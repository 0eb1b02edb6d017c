"""clinqa: clinical text to question-answering datasets that can be trusted."""

__version__ = "0.1.0"
