"""What the parameters of a case do: which decide, which values fit measurements, and which make it end as it is to."""
