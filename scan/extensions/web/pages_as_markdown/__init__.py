"""Pages as Markdown, for programs that read text: `Accept: text/markdown`.

Input: a page's HTML, in which anybody may have written texts. Output: Markdown of the same content.
Start with to_markdown() of markdown.py.
"""
