"""What producers of blocks earned: of a block, and by day and producer.

Input: blocks and their rewards, as stored. Output: fields of a block, /stats/earnings, the page
/earnings and a section of a block's page. Start with views.py of the folder above.
"""
