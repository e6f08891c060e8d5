"""The only way out of a jail: names, addresses, connections and bytes pass here, each for one call."""
