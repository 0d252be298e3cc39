"""Files of a run: trajectory, checkpoint and topology. They are written such that no data are lost if a process is
killed."""
