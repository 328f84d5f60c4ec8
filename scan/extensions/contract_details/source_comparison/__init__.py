"""The sources of two verified contracts side by side.

Input: their files in the index. Output: /contracts/:address/compare/:other and a page. Start with
comparison.py of the folder above.
"""
