-- In DuckDB: a value's text as a field of PostgreSQL's CSV, where null is an empty field.
-- params: none
-- returns: nothing; makes the macro csv_text
-- index: none
CREATE OR REPLACE TEMPORARY MACRO csv_text(text) AS CASE
    WHEN text IS NULL THEN ''
    WHEN text = '' OR contains(text, '"') OR contains(text, ',')
        OR contains(text, chr(10)) OR contains(text, chr(13))
        THEN '"' || replace(text, '"', '""') || '"'
    ELSE text
END;
