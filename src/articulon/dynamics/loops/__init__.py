"""Loop constraints and driven joints: their conditions, and the articulated-body algorithm that satisfies them."""
