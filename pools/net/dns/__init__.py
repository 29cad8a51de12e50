"""The resolvers, and the sockets around the decisions of pools.logic.dns."""
