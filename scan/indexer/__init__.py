"""The only writer of chain data: follows a node block by block into PostgreSQL."""
