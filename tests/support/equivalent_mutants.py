"""Mutants that change no result: a pattern of the statement, one of what is changed, the reason.

What is changed may be followed by `   in: ` and its line, where other lines have the same."""

EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    (
        r"queries/\w+_list_by_filters",
        r"\w+\.ordinal [<>]= %\((lowest|highest)\)s",
        "they bound the partitions that are opened; no row outside of them matches the rest",
    ),
    (
        r"counted_candles\(\)",
        r"\(some_pools IS NULL OR d\.pool_address = ANY\(some_pools\)\)",
        "it saves work: pools and hours are compared once more, together",
    ),
    (
        r"event_topics_changes\(\)",
        r"l\.topic_id IS NOT NULL",
        "it saves work: what uses the counts joins them by the topic, which NULL never equals",
    ),
    (
        r"daily_stats_changes\(\)",
        r"[ti]\.ordinal BETWEEN .*",
        "it saves work: rows are joined to the blocks of the range",
    ),
    (
        r"untraced_blocks\(\)",
        r"b\.number = \(SELECT max\(newest\.number\) FROM blocks newest\)",
        "it saves work: what lies before a block only grows, so that the newest has the most",
    ),
    (r"addresses_expected\(\)", r"i\.owner IS NOT NULL", "it saves work: no address is NULL"),
    (
        r"indexer/addresses_restore_last_seen",
        r"\w\.(to|contract)_address <> \w\.from_address",
        "it lets an index be read; what an address sent to itself is found by its sender, too",
    ),
    (
        r"indexer/lists_insert_checkpoints",
        r"grown\.list IN \('(dex_trades_by_dex|logs_by_topic0)'\)",
        "it saves work: keys of other lists have no id, which no row equals",
    ),
    (
        r"indexer/addresses_derive",
        r"greatest\(c\..*\) > checkpoint_every\(\)",
        "it saves work: of shorter lists none passes a checkpoint",
    ),
    (
        r"queries/history_list",
        r"l\.sign <> 0",
        "it saves work: entries of a list without a sign are taken times 0",
    ),
    (
        r"queries/history_list",
        r"\w\.to_address IS NOT DISTINCT FROM \w\.from_address"
        r"   in: AND \(%\(flow\)s <> 'self' OR .*",
        "it lets an index be read: the sender is the address, so that one says what the other does",
    ),
    (
        r"queries/(history_list|\w+_by_\w+_list|\w+_list_by_filters)",
        r"%\(direction\)s = 'asc'"
        r"   in: ORDER BY CASE WHEN %\(direction\)s = 'asc' THEN \w\.ordinal END ASC,",
        "an index is read from its beginning anyway: the service's sessions do not scan otherwise",
    ),
    (
        r"queries/history_list",
        r"coalesce\(%\(counterparty\)s = %\(address\)s, true\)",
        "it lets the index of what another received be read: no row of another is one to itself",
    ),
    (
        r"queries/history_list",
        r"l\.is_(whole|empty)",
        "it saves work: the entries before both ends of the range say the same",
    ),
    (
        r"queries/balances_list",
        r"e\.first IS NOT NULL",
        "it saves work: no block has the number that follows from NULL",
    ),
    (
        r"queries/balances_list",
        r"%\(has_token\)s   in: WHERE %\(has_token\)s( AND h\.token_address = .*)?",
        "it saves work: without a token its address is NULL, which no row equals",
    ),
    (
        r"queries/history_get_bounds",
        r"l\.entries > checkpoint_every\(\)",
        "it saves work: shorter lists have no checkpoint",
    ),
    (
        r"queries/\w+_by_\w+_list",
        r"\w+\.ordinal [<>]= \(SELECT beyond FROM start\)",
        "it bounds what is read: a page ends by its LIMIT, which no row behind that changes",
    ),
    (
        r"queries/(user_operations|authorizations|messages_to_l1|blobs|execution_requests|"
        r"contract_creations)_.*list",
        r"\+   in: SELECT entries_before\(.*, ordinals\.last \+ 1\)",
        "no row has the last ordinal of a block that has gaps",
    ),
    (
        r"queries/(user_operations|authorizations|messages_to_l1|blobs|execution_requests|"
        r"contract_creations)_list",
        r"c\.key = %\(key\)s",
        "the list of all rows has one key",
    ),
    (
        r"queries/\w+_list",
        r"NOT %\(has_(lower|upper)\)s",
        "it saves work: no entries are before the first block, and all are up to the last",
    ),
    (r"entries_before\(\)", r"''::bytea = k", "the list of all rows has one key"),
    (
        r"queries/execution_requests_by_type_list",
        r"c\.list = 'execution_requests_by_type'",
        "keys of no other list have one byte",
    ),
    (
        r"queries/\w+_by_\w+_list(_by_filters)?",
        r"\w\.\w+ IS NOT NULL",
        "it says again what the condition beside it says, as the list leaves out rows without key",
    ),
    (
        r"queries/(history|balances)_list",
        r"%\(read_by\)s (NOT )?IN \('(token|address)', 'any'\)",
        "it says from which index rows are read: the condition beside it holds either way",
    ),
    # Of Python: the pattern is of the file.
    (
        r"scan/.*",
        r"\d+   in: .*retry_after_s=\d+.*",
        "it is advice: clients that come back a second later or earlier are answered alike",
    ),
    (
        r"scan/indexer/catch_up\.py",
        r"monotonic\(\) \+ CHECK_WATCHED_EVERY_S",
        "it saves look-ups: what webhooks watch may be read after every batch",
    ),
    (
        r"scan/rate_limits/storage_health\.py",
        r"time\.sleep\(PROBE_EVERY_S\)",
        "it saves work: the storage may be asked without a pause whether it is back",
    ),
)
