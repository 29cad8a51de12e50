"""What the process of a script gives up before it runs, and what is put back or ended after it."""
