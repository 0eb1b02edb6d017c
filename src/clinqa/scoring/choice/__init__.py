"""Judging models on multiple-choice items asked in several orders of their options.

questions, asked   what was asked, and how the options of each prompt stood
readers            what each answer picks, read in up to three ways side by side
matching/          the third way: a small classifier trained on annotated outputs
figures, positions, compared   figures by reader, the test of positions, runs against each other
run, meta, tables  into a SCORES folder
"""
