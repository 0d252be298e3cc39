"""What is drawn of a model in three dimensions, and the pages that show it."""
