"""A report's text to its layout, statements, findings and one level a study and abnormality."""
