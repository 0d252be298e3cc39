"""The divide-and-conquer algorithm of Featherstone (1999), and impulses on locked joints, which use the same
assembly."""
