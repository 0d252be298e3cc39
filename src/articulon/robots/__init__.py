"""Robot description files: reads URDF and MJCF files as models, and writes models as URDF files."""
