"""The run: the loop, what is observed along it, and what is kept of it."""
