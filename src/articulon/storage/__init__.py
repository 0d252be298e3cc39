"""Files of a run: trajectory, checkpoint, topology, and writing that loses nothing when a process is killed."""
