"""Robot description files: URDF and MJCF read into models, and trees written as URDF."""
