"""Judging models on statements that are true or false: figures of each run, and the panel of all.

Two statements that differ in one edit are a pair, and a pair is what is drawn again. A model that
says True to everything has one of each pair right: its accuracy is 0.5 in every resample, and the
interval has no width. That is no fault of the interval: on pairs such a model cannot do otherwise.
"""
