"""What every bench stands on: rounds, rows, fresh processes and peers. Loads nothing but the standard library."""
