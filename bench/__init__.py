"""Every figure is a ratio of two things measured side by side in one interleaved run; each plain file is one table."""
