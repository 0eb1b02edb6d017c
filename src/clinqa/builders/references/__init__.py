"""Reference documents to balanced pairs of true and false statements (ECGQuest)."""
