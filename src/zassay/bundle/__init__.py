"""The last stage: everything a stranger needs to check, re-analyse and repeat a campaign, in one deterministic zip.

``build`` makes it, ``verifier`` (shipped inside as ``verify.py``) checks it, ``citation`` says how to cite it.
"""
