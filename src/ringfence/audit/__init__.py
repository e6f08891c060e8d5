"""RECORD: what happened, in order, so that a change to any of it shows."""
