"""Variants of a case run side by side: what each costs, and how far it strays from the unscaled motion."""
