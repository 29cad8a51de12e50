"""DNS drives instances, seen from outside: a real nameserver, real curators, and kills."""
