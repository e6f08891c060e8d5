"""EXECUTE: hand one warranted call to a sandbox and take back what it says, unbelieved."""
