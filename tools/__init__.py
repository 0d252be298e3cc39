"""Programs for those who work on articulon."""
