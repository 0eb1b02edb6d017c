"""Multiple-choice questions about a topic as pairs of a true and a false statement."""
