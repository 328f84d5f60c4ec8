"""The steps of every HTTP request before and after Flask.

Input: a WSGI request. Output: a response with its id, its limits and its metrics.
Start with middleware.py (the steps in order), then credentials_and_limits.py (which key or address
is charged) and response_cache.py; views use
current_request.py, request_bodies.py, json_responses.py and list_responses.py, and services.py,
which process_services.py puts together.
"""
