"""Tools for corpora of texts about one person each: to use another corpus with `protext`, and to
check the shipped one.
"""
