"""Three-dimensional scenes of models, and the pages that show them."""
