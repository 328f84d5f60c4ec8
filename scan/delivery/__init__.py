"""Webhook deliveries: from the outbox to the receivers, any number of processes at once."""
