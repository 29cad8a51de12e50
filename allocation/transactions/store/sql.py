"""The operations on documents as SQL: each is a short script of conditional statements.

An operation checks the transaction, takes the lock, writes the journal and the document in one
round trip. With the ORM, statement by statement, a transaction of five puts took three to five
times as long as five plain upserts.

Each statement does nothing unless the one before it took effect, so the last one tells
whether the operation happened. They run in one database transaction, on PostgreSQL as one
message; each sees what committed while an earlier one waited for a row.
"""

HERE = 'd.collection = %(collection)s AND d."key" = %(key)s'
NAMES = "CAST(%(collection)s AS varchar), CAST(%(key)s AS varchar)"
NOT_THERE = f"NOT EXISTS (SELECT 1 FROM allocation_document d WHERE {HERE})"  # nosec B608 # of constants only
ACTIVE = "t.id = %(txn)s AND t.status = 'active' AND t.epoch = %(epoch)s"
IN_TIME = f"{ACTIVE} AND t.expires_at > {{clock}}"
NOT_DELAYED = "(d.lock_delayed_until IS NULL OR d.lock_delayed_until <= {clock})"
NO_LOCK = "NOT EXISTS (SELECT 1 FROM allocation_lock l WHERE l.document_id = d.id)"
NOT_LOCKED = f"AND {NO_LOCK} AND {NOT_DELAYED}"

# What the caller demands of the key before it is written.
ANYTHING = ""
PRESENT = "AND d.present"
ABSENT = "AND NOT d.present"
SAME_REF = "AND d.present AND d.ref = %(if_ref)s"

# A claim for rolling back waits until the operation has committed, and vice versa.
FENCE = "SELECT t.id FROM allocation_transaction t WHERE t.id = %(txn)s {lock_row}"

# Who looks at the locks of a key holds its row, so that two cannot both see it free.
MUTEX = f"SELECT d.id FROM allocation_document d WHERE {HERE} {{lock_row}}"  # nosec B608 # of constants only

ENSURE = f"""
INSERT INTO allocation_document
    (collection, "key", present, ref, lock_token, created_at, updated_at)
SELECT {NAMES}, false, '', 0, {{clock}}, {{clock}}
FROM allocation_transaction t WHERE {IN_TIME} AND {NOT_THERE}
ON CONFLICT (collection, "key") DO NOTHING"""  # nosec B608 # of constants only

# A second lock keeps the token; shared to exclusive is a new lock with a new token.
LOCK = f"""
INSERT INTO allocation_lock (document_id, transaction_id, mode, token, acquired_at)
SELECT d.id, t.id, CAST(%(mode)s AS varchar), d.lock_token + 1, {{clock}}
FROM allocation_document d, allocation_transaction t
WHERE {HERE} AND {IN_TIME} AND {NOT_DELAYED}
  AND NOT EXISTS (
    SELECT 1 FROM allocation_lock other
    WHERE other.document_id = d.id AND other.transaction_id <> t.id
      AND (other.mode = 'exclusive' OR %(mode)s = 'exclusive'))
ON CONFLICT (document_id, transaction_id) DO UPDATE
SET mode = excluded.mode, token = excluded.token
WHERE allocation_lock.mode = 'shared' AND excluded.mode = 'exclusive'"""  # nosec B608 # of constants only

MINE = "l.document_id = d.id AND l.transaction_id = %(txn)s"

COUNT_TOKEN = f"""
UPDATE allocation_document AS d SET lock_token = lock_token + 1
WHERE {HERE} AND EXISTS (
    SELECT 1 FROM allocation_lock l WHERE {MINE} AND l.token = d.lock_token + 1)"""  # nosec B608 # of constants only

# The image before is the row as it is now; the write follows.
JOURNAL = f"""
INSERT INTO allocation_journalentry
    (transaction_id, document_id, action, before_present, before_ref, before_value,
     after_ref, undo, at)
SELECT t.id, d.id, %(action)s, d.present, d.ref, d.value, %(ref)s, '', {{clock}}
FROM allocation_document d
JOIN allocation_lock l ON {MINE} AND l.mode = 'exclusive'
JOIN allocation_transaction t ON {IN_TIME}
WHERE {HERE} {{demand}}"""  # nosec B608 # of constants only

JOURNALLED = """EXISTS (
    SELECT 1 FROM allocation_journalentry j
    WHERE j.transaction_id = %(txn)s AND j.after_ref = %(ref)s)"""

WRITE_JOURNALLED = f"""
UPDATE allocation_document AS d
SET present = %(present)s, value = {{value}}, ref = %(ref)s, updated_at = {{clock}},
    lock_token = (SELECT l.token FROM allocation_lock l WHERE {MINE})
WHERE {HERE} AND {JOURNALLED}"""  # nosec B608 # of constants only

INSERT = f"""
INSERT INTO allocation_document
    (collection, "key", present, value, ref, lock_token, created_at, updated_at)
SELECT {NAMES}, true, {{value}}, %(ref)s, 0, {{clock}}, {{clock}}
WHERE {NOT_THERE}
ON CONFLICT (collection, "key") DO NOTHING"""

WRITE = f"""
UPDATE allocation_document AS d
SET present = %(present)s, value = {{value}}, ref = %(ref)s, updated_at = {{clock}}
WHERE {HERE} AND d.ref <> %(ref)s {{demand}} {{unless_locked}}"""  # nosec B608 # of constants only

VERSION = f"""
INSERT INTO allocation_documentversion
    (document_id, ref, present, value, transaction_id, lock_token, at)
SELECT d.id, d.ref, d.present, d.value, CAST(%(txn)s AS bigint), d.lock_token, {{clock}}
FROM allocation_document d WHERE {HERE} AND d.ref = %(ref)s
RETURNING id"""  # nosec B608 # of constants only

FORGET_VERSIONS = f"""
DELETE FROM allocation_documentversion WHERE document_id = (
    SELECT d.id FROM allocation_document d WHERE {HERE} AND d.ref = %(ref)s)"""  # nosec B608 # of constants only

WRITTEN = f"SELECT d.id FROM allocation_document d WHERE {HERE} AND d.ref = %(ref)s"  # nosec B608 # of constants only

READ_LOCKED = f"""
SELECT d.value, d.ref, l.token, d.present
FROM allocation_document d JOIN allocation_lock l ON {MINE}
JOIN allocation_transaction t ON {IN_TIME}
WHERE {HERE} AND (l.mode = 'exclusive' OR %(mode)s = 'shared') {{demand}}"""  # nosec B608 # of constants only

BEGIN = """
INSERT INTO allocation_transaction
    (status, epoch, owner, label, channel, caller, cause, reason, error, attempts, started_at,
     limit_at, expires_at)
SELECT 'active', 1, %(owner)s, %(label)s, %(channel)s, %(caller)s, '', '', '', 0, {clock},
    {limit_at}, {expires_at}
RETURNING id"""

COMPLETE = f"""
UPDATE allocation_transaction AS t SET status = 'completed', finished_at = {{clock}}
WHERE {IN_TIME}"""  # nosec B608 # of constants only

RELEASE = """
DELETE FROM allocation_lock WHERE transaction_id = (
    SELECT t.id FROM allocation_transaction t
    WHERE t.id = %(txn)s AND t.epoch = %(epoch)s AND t.finished_at IS NOT NULL)"""

STATUS = """
SELECT t.status FROM allocation_transaction t WHERE t.id = %(txn)s AND t.epoch = %(epoch)s"""
