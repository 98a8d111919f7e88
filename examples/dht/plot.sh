#!/bin/sh
# Lookups over churn rates, with five seeds for each rate: one plot of all runs, dht.svg.
set -e
cd "$(dirname "$0")"
lastnail=../../bin/lastnail.js
for rate in 2 20 60; do
  RATE=$rate "$lastnail" emulate --seeds 5 --out "runs/$rate" >&2
done
"$lastnail" plot --by seed runs/*/dht-*/*/ --out dht.svg
