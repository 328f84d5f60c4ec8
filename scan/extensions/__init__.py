"""The extensions: a folder each, which scan/registry.py finds. Deleting a folder deletes it.

An extension imports the core, and another extension only where it declares that it `needs` it; the
core imports none. The package declares EXTENSION. The parts that it may have:

| Part | What the core takes from it |
|---|---|
| rows.py | TABLES: tables whose rows follow from a block (SparseTable), by name; the indexer notes from which block on each has all rows (filled_tables), and lists say it |
| form.py | FORMS: forms of the blocks of chains (Form) |
| derived.py | TABLES: derived tables with the name of a row; derive(tx, written): what blocks add, which returns the lists that passed a checkpoint; unwind(tx, orphaned): what a fork removes. <table>_expected() of its schema has all rows, from which the indexer fills a table whose extension was off |
| sql/ | statements, in the same rooms as sql/; a file of sql/schema/ is read after the core's of the same name; lists.toml is merged into sql/lists.toml, and [fragments.<statement>] of it is SQL that a statement of the core includes where the extension is on |
| sql_values.py | VALUES: what templates of statements use, by name |
| api.py | BLUEPRINTS below /api/v1; transaction_fields(record): fields that it adds to a transaction |
| openapi.toml | its records, operations and parameters, the fields that it `added` to records of others, and the columns of its lists' CSV files, as scan/extensions/openapi/schemas.py and operations.py and scan/extensions/exports/csv_columns.py describe them |
| interface.py | register(app, services), which returns interfaces beside the API; APIS: their paths in the catalogue; LLMS: lines of /llms.txt; OPEN_PATHS: paths without a limit |
| pages.py | BLUEPRINTS, PATHS, PREFIXES of pages; TOKEN_PATHS: those of forms that need a token, which any site may send; MENU; SECTIONS: templates that pages of the core include, `head` in the head of all, `list` beside the count of each list; LINKED: lists that an address's head links, address_facts(): the values of its section; SEARCHES: template -> function of a search's text, which returns the records to show; SEARCH_RESULTS: type of a result -> its title and the beginning of its page's path; path_of_hash(), transaction_records(); page_of_missing() of a transaction that is not indexed; block_lists(): lists that a block's page shows; add_to_transactions(): fields of transactions in lists; transaction_head(), TRANSACTION_TABS: what a transaction's page shows above its tabs, and tabs; home(), live(): the values of its sections of the home page, the latter of the part that is refreshed; ADDRESS_TABS, TOKEN_TABS: tabs (Tab) of an address's and of a token's page; GLOBALS of templates |
| queries.py | PAGES: pages of entities that are no plain lists; search_results(): records that a search shows first |
| templates/, static/ | templates of pages; their scripts, with names of their own |
| documentation.py | pages at /docs, which others then link |
| markdown.py | to_markdown() of a page, escaped() of a text |
| <command>_command.py | add_arguments() of a subcommand of `scan`, which EXTENSION names with its line in the help |
| run_option.py | OPTION, HELP and run(settings, file): what `scan run` does with an option of its own; run_demo(settings): what it does without RPC_URL |
| settings.py | Settings of its own; `brand` among them is that of the pages |
| list_files.py | send() of a list as a file, csv_text(), MAX_ROWS |
| automatic_backfill.py | run(settings, stop): fills an empty index that is far behind |
| pruned_history.py | CURE: what helps where the node has pruned the blocks that an empty index needs; has_blocks(settings): whether the extension has them, so that the index is filled in bulk |
| block_traces.py | NodeTraceReader: what contracts created and moved in blocks to index (scan/indexer/block_traces.py) |
| maintenance.py | maintenance(database, settings): what the indexer does between commits, advance(head) |
| node_sockets.py | NodeSockets: requests to nodes whose URL is a path |
| block_completion.py | BlockCompleter: what a block to index has beside its JSON: complete(block, header) |
| creation_input.py | TracedInputs: the code that created a contract which a contract created |
| chain_watch.py | watch(settings, name, over): sets `over` once the node serves another chain than that of the database of this name |
| indexing.py | run_beside(settings, stop): what runs in a thread of the indexer's process |
| worker.py | threads(services): what runs beside serving in the worker, with start() and stop(), such as WorkerThread (scan/http/worker_thread.py) |
| deliveries.py | SCHEME of URLs of webhooks that the extension delivers to; connect(settings, database), which returns what connects to them (Connect) |
| shared_windows.py | windows(settings): the store of rate limits that processes share, by SCAN_RATE_LIMIT_STORAGE |
| contract_comparison.py | compare(reader, address): compares a contract that has a verified contract's runtime code; whether its record may have changed |
| service.py | service(core): what lives as long as the process, where it is made of the core's; Sources.get() returns it by type, and makes what needs no arguments |

A module with the name of another extension is what it adds to that one, which alone imports it:

| Module | What that extension takes from it |
|---|---|
| audit.py | CHECKS_OF_KEPT_ROWS, OF_KEPT_ROWS; add_arguments() and run() of `scan audit` with options of its own |
| blockscout.py | blueprint; coin_price() |
| bulk.py | statements DERIVED, COPY and ACCEPT; add_arguments() and open_history() for blocks of another source than the node |
| decoder.py | CALLS: functions whose arguments are calls |
| doctor.py | add_arguments() and run() of `scan doctor` with options of its own; CURE_OF_UNTRACED_BLOCKS |
| etherscan.py | ACTIONS by module and name; items_held() |
| exports.py | CELLS of CSV files that no field has; headers() of a file's last page; FILES: what `scan export` writes besides tables |
| feeds.py | FEEDS: more feeds of an address |
| transaction_details.py | transaction_fields() and transaction_head() of a transaction's record and details |

Tests are in tests/extensions/<name>/.
"""  # noqa: E501
