"""AUTHORIZE: every finding about a call, and the strictest of them."""
