"""The resolvers: sockets around the decisions of pools.logic.dns."""
