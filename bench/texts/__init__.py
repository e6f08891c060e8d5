"""What the bench of text stands on: the corpora, what is found in them, and texts to be timed with."""
