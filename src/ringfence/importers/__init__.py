"""Tools that come from elsewhere than a Python module, each read as a stranger's words.

Takes: documents.  Gives: contracts.  Never: runs anything, or believes a field that its own constructor would refuse.
"""
