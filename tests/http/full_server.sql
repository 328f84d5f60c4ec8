
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full';
END $$;
CREATE TRIGGER fill BEFORE UPDATE ON indexer_status FOR EACH ROW EXECUTE FUNCTION fill();
