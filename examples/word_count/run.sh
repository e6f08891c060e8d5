#!/bin/sh
# The arguments are one JSON document on standard input; the reply is one on standard output.
set -eu
count=$(cat | tr -d '\n' | wc -c)
printf '{"characters": %d}\n' "$count"
