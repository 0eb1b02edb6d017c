"""Read, write, split, describe and verify a dataset folder."""
