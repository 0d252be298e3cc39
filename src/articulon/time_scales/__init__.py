"""Time scales that limit a step: of contacts, of thermal motion, and of held noise."""
