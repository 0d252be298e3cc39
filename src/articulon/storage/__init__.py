"""The files of a run: trajectory, checkpoint, topology, and how a file is written so that a kill loses nothing."""
