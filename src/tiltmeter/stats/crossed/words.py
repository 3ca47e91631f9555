"""Numbers of cue words needed to generalise. Needs no numpy, since protocols import it."""

LEAST_WORDS = 3  # of the smaller side, from which cue words are a sample
FEW_WORDS = 5  # below, a sample of few cue words
ADVISED_WORDS = 10
