"""Whether a scaled run can be trusted: its error, estimated from the run itself and from unscaled reference runs."""
