"""The page of a True/False panel: results, planes, agreement, ensembles, difficulty."""
