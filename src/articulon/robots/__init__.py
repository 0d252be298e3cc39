"""Descriptions of robots by others: URDF and MJCF read into models, and trees written as URDF."""
