"""The golden outputs: all that planted runs and commands give, written to a folder and compared.

*numbers*: estimates, codes of verdicts, exit codes; equal in every commit that rewrites code.
*texts*: reports, help pages, signatures, printed commands, explorer's pages; equal unless a commit
rewords. `scripts/golden` is the command; test_golden.py is the small form.
"""
