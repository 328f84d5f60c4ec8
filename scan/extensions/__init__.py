"""The extensions: a folder each, which scan/registry.py finds. Deleting a folder deletes it.

An extension imports the core, and another extension only where it declares that it `needs` it; the
core imports none. The package declares EXTENSION. The parts that it may have:

| Part | What the core takes from it |
|---|---|
| rows.py | TABLES: tables whose rows follow from a block (SparseTable), by name |
| sql/ | statements, in the same rooms as sql/; a file of sql/schema/ is read after the core's of the same name; lists.toml is merged into sql/lists.toml |
| api.py | BLUEPRINTS below /api/v1; NAMES: the keys of lists in JSON, by entity |
| openapi.py | PATHS, SCHEMAS, PARAMETERS of the document; FIELDS: fields that it adds to a schema |
| interface.py | register(app, services), which returns interfaces beside the API |
| pages.py | BLUEPRINTS, PATHS, PREFIXES of pages; LINKED: lists that an address's head links; MENU |
| templates/ | templates of pages |
| csv_columns.py | COLUMNS of lists as CSV files, by the list's key in JSON |
| commands.py | COMMANDS: the subcommands of `scan` by name, each with its line in the help and the module that has its add_arguments(); the module of COMMANDS itself imports nothing heavy |
| settings.py | Settings of its own |
| services.py | services(core): what lives as long as the process, by type |

Its tests are in tests/extensions/<name>/.
"""  # noqa: E501
