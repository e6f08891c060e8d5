"""The sides of the comparisons, each able to run in a process of its own."""
