"""The same hostile probes in Ringfence's jail and in other sandboxes, each set up as its own documentation says."""
