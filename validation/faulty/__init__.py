"""Faulty input by the thousand, each kind in a module of its own: how it is made from a seed, and what reads it."""
