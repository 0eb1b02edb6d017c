"""Data classes, the identifier screen, redaction."""
