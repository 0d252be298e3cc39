"""Time scales that bound a step: of contacts, of thermal motion, and of the windows in which noise is held."""
