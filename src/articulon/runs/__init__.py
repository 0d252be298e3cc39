"""The one door to runs: what is made ready, run, kept, written, continued and read again, under one set of names."""
