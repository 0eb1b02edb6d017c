"""The page of multiple-choice scores: results by reader and order, positions, categories, tests."""
