"""`scan doctor`: checks of the node, the database, compilers, disks and clocks, with advice.

Start with doctor_command.py (the report), then checks.py.
"""
