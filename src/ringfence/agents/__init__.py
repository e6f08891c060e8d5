"""VIEW: agents, and what each of them can see."""
