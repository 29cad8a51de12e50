"""What a room says when something of its own is wrong; the site keeps it as an incident."""
