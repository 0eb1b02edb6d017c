"""Studies: the whole line from a dataset to a paper's table, each step done once.

study file ──plan──▶ trainings ──▶ runs ──answers──▶ table of right and wrong
    ──cross──▶ matrix, tests, marks ──write──▶ STUDY folder
"""
