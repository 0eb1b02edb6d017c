"""Curate the statement lexicon: propose, accept."""
