"""Reading answers and judging them: text metrics, classes, clinical errors."""
