"""The page of an evaluation: one HTML file, its figures and its tables."""
