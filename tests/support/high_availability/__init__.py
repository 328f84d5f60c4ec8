"""Faults for the recipe of deploy/ha: what is done to it, the load on it, and what must hold."""
