"""Many states at once, on a GPU or on Warp's CPU device."""
