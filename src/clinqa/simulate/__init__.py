"""Made reports with known truth."""
