"""From clinical reports to labels and questions."""
