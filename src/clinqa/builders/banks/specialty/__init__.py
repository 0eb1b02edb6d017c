"""Multiple-choice questions by clinical specialty: annotators, votes, conformal sets."""
