"""Scan on several machines: files for operators, and `python -m deploy.ha`, which runs them on one.

Start with cluster.py, which defines what is started and in which order; docs/high-availability.md
describes what each part is for.
"""
