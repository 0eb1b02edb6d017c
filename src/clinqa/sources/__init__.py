"""Readers of what clinqa is given."""
