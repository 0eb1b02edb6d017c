"""Scores of answers: text metrics, clinical reading, intervals, paired tests."""
