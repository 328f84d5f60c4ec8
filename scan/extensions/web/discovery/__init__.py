"""Files that programs look for first: /llms.txt, /robots.txt, /.well-known/api-catalog and
security.txt.
"""
