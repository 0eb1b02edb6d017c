"""PDF documents: found, named by their bytes, read page by page in a child process with limits."""

from __future__ import annotations
