"""Where the values of secrets are read from: one source a file, each asked again when its value may have changed."""
