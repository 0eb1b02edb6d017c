"""Cluster-aware statistics; numpy and scipy only."""
