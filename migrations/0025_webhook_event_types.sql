-- A webhook may be of internal transfers and of trades.
ALTER TABLE IF EXISTS webhooks
    DROP CONSTRAINT IF EXISTS webhooks_event_types_check,
    ADD CONSTRAINT webhooks_event_types_check
        CHECK (event_types <@ '{tx,token_transfer,internal_transfer,dex_trade,log}'
            AND event_types <> '{}');
