"""Forms that requests send, for extensions with pages or interfaces that take some.

Input: an urlencoded or multipart body. Output: its fields, or why it is refused, before a hostile
one takes the processor for seconds. Start with form_body.py.
"""

from scan.registry import Extension

EXTENSION = Extension("reads forms in bodies, for other extensions")
