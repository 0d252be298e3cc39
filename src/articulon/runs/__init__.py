"""Public functions to make, continue, save and open runs, in memory and in folders."""
