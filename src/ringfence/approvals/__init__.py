"""APPROVE: what a person is shown, who may vote, and the proof that one exact call may run once."""
