-- What the holders of an NFT hold together, which is its supply where it has no totalSupply(). Whether it
-- has is read again by the indexer.
ALTER TABLE IF EXISTS tokens
    ADD COLUMN IF NOT EXISTS supply_missing boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS held_supply numeric NOT NULL DEFAULT 0;
DO $$
BEGIN
    IF to_regclass('tokens') IS NULL OR to_regclass('token_holders') IS NULL THEN
        RETURN;
    END IF;
    UPDATE tokens k
    SET held_supply = coalesce((
            SELECT sum(h.balance) FROM token_holders h
            WHERE h.token_address = k.address AND h.balance > 0), 0),
        supply_block = CASE WHEN k.total_supply > 0 THEN k.supply_block END
    WHERE k.type <> 'BEP20';
END
$$;
