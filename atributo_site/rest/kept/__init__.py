"""What a thread keeps from one request to the next: forms with their fields, compiled queries."""
