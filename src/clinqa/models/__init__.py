"""Models behind one protocol: remote, local, embedded, baselines; and the table of families."""
