"""Fairness audit: is the score of a run the same for every group of patients?"""
