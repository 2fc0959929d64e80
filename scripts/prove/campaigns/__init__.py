"""The modules of scripts/x differential (a campaign each, with a function `play` that asks one round of
questions; rounds.py repeats them, and shrinking.py makes a difference small) and of scripts/x bombs."""
