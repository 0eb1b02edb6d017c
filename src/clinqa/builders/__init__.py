"""The builders: from sources to datasets."""
