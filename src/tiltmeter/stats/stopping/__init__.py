"""Runs that stop early with their error rates kept: group-sequential tests of a family of claims.

Imports nothing, as the room does. What is frozen before the first output is a ``StoppingDesign``
(``design``); what a claim has by a look is in ``paths`` (items) and ``blocks`` (whole outputs);
``sequential`` makes a p of it that is valid at any stop, ``decision`` applies the family's rule and
futility (``rules``), ``boundaries`` and ``after`` hold what estimates need after stopping, and
``planned`` simulates a design before it is run, many runs at once (``follow``).
"""
