-- In DuckDB: all_blocks() of sql/schema/changes.sql.
-- params: none
-- returns: nothing; makes the macro all_blocks
-- index: none
CREATE OR REPLACE TEMPORARY MACRO all_blocks() AS {
    'first_block': 0, 'last_block': 9223372036854775807,
    'first_transaction': 0, 'last_transaction': 9223372036854775807,
    'first_transfer': 0, 'last_transfer': 9223372036854775807,
    'first_trade': 0, 'last_trade': 9223372036854775807,
    'first_internal': 0, 'last_internal': 9223372036854775807,
    'first_log': 0, 'last_log': 9223372036854775807};
