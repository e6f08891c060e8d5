"""DECLARE: what a tool says about itself, as values that every later stage obeys."""
