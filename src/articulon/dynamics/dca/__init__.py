"""The divide-and-conquer algorithm of Featherstone (1999), and the impulses on locked joints that use its assembly."""
