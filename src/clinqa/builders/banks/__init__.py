"""Datasets from question banks."""
