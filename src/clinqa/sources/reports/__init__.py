"""Readers of clinical reports."""
