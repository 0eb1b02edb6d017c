"""What of a text looks like an identifier; how far a text may travel."""
