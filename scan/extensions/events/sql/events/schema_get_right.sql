-- Whether the role may make views of events, or the schema for them.
-- params: none
-- returns: one row: the role's name as SQL has it, a boolean
-- index: none
SELECT quote_ident(current_user), CASE WHEN to_regnamespace('events') IS NULL
    THEN has_database_privilege(current_database(), 'CREATE')
    ELSE has_schema_privilege('events', 'CREATE') END;
