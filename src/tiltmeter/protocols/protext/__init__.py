"""Tools for corpora of texts about one person each: a corpus of one's own for `protext`, and the
checks of the shipped one.
"""
