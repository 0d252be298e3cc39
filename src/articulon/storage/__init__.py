"""Files of a run: trajectory, checkpoint and topology, written such that nothing is lost if a process is killed."""
