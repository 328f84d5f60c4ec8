-- Which authorizations took effect (EIP-7702), by what is indexed. An account's nonce is one more than that of
-- the last transaction it sent, or one more than that of its last authorization in effect, and grows with
-- each contract that code in its name created since. In a transaction the sender's nonce grows first,
-- then authorizations take effect in their order, then code runs.

-- The ordinal from which on no authorization is missing, as the extension was off before.
CREATE OR REPLACE FUNCTION first_complete_authorization() RETURNS bigint LANGUAGE sql STABLE
RETURN coalesce((SELECT first_ordinal_in(f.first_block) FROM filled_tables f WHERE f.name = 'authorizations'), 0);

-- The known state of an account after some of its authorizations.
DO $$
BEGIN
    CREATE TYPE authority_state AS (
        nonce_before numeric,          -- before the last of them; null: not known
        nonce numeric,                 -- after it
        is_delegating boolean);        -- whether code may run in the account's name
EXCEPTION WHEN duplicate_object THEN
    NULL;
END
$$;

-- The state after one more authorization. `known` is the account's nonce by a transaction that it sent
-- since, or by the first of the authorizations; `created` is the number of contracts created since the
-- authorization before, null where code that ran since was not traced.
CREATE OR REPLACE FUNCTION next_authority_state(
    before authority_state, known numeric, created bigint, is_untraced boolean, was_delegating boolean,
    signed_nonce numeric, delegates boolean)
RETURNS authority_state LANGUAGE sql IMMUTABLE AS $$
    SELECT ROW(s.nonce, s.nonce + (s.nonce = signed_nonce)::integer,
        CASE WHEN s.nonce = signed_nonce THEN delegates
            WHEN s.nonce IS NULL THEN delegates OR s.is_delegating
            ELSE s.is_delegating END)::authority_state
    FROM (
        SELECT o.is_delegating,
            CASE WHEN NOT (is_untraced AND o.is_delegating)
                THEN coalesce(known, (before).nonce + created) END AS nonce
        FROM (SELECT coalesce((before).is_delegating, was_delegating) AS is_delegating) AS o
    ) AS s
$$;

CREATE OR REPLACE AGGREGATE authority_states(
    known numeric, created bigint, is_untraced boolean, was_delegating boolean, signed_nonce numeric,
    delegates boolean)
(SFUNC = next_authority_state, STYPE = authority_state);

-- The authorizations of a range of blocks: the nonce that their authority had then, null where it does not
-- matter or is not known, and whether they took effect, null where that is not known.
CREATE OR REPLACE FUNCTION authorizations_changes(span block_range)
RETURNS TABLE (ordinal bigint, authority_nonce numeric, is_valid boolean)
LANGUAGE sql STABLE AS $$
    -- Older authorizations may be missing, and may have given an account any nonce.
    WITH complete AS (
        SELECT first_complete_authorization() AS ordinal
    ), signed AS MATERIALIZED (
        SELECT a.ordinal, a.authority, integer_text(a.nonce)::numeric AS nonce,
            a.delegate <> zero_address() AS is_delegating, a.block_number, a.transaction_index, a.fault,
            b.transactions_before + a.transaction_index AS transaction_ordinal,
            b.internal_transfers_before + b.internal_transfer_count AS internal_end,
            b.untraced_before + (b.traced IS FALSE)::integer AS untraced
        FROM authorizations a
        JOIN blocks b ON b.number = a.block_number
        WHERE a.ordinal BETWEEN first_ordinal_in((span).first_block)
            AND last_ordinal_in((span).last_block)
    ), placed AS (
        SELECT s.*, p.ordinal AS previous, CASE WHEN p.transaction_ordinal >= first_kept_ordinal('transactions')
                THEN p.authority_nonce + p.is_valid::integer END AS previous_nonce,
            p.transaction_ordinal AS previous_transaction, t.nonce AS sent_nonce,
            t.ordinal AS sent_transaction,
            coalesce(t.ordinal > p.transaction_ordinal, t.ordinal IS NOT NULL) AS is_sent_since,
            coalesce(p.ordinal, -1) < first_ordinal_in((span).first_block) AS is_first
        FROM signed s
        LEFT JOIN LATERAL (
            SELECT a.ordinal, a.authority_nonce, a.is_valid,
                b.transactions_before + a.transaction_index AS transaction_ordinal
            FROM authorizations a
            JOIN blocks b ON b.number = a.block_number
            WHERE a.authority = s.authority AND a.fault IS NULL AND a.ordinal < s.ordinal
                AND a.ordinal >= (SELECT c.ordinal FROM complete c)
            ORDER BY a.ordinal DESC
            LIMIT 1
        ) AS p ON true
        LEFT JOIN LATERAL (
            SELECT t.ordinal, integer_text(t.nonce)::numeric AS nonce, t.block_number
            FROM transactions t
            WHERE t.from_address = s.authority AND t.ordinal <= s.transaction_ordinal
                AND t.ordinal >= first_kept_ordinal('transactions', (SELECT r.removed_to FROM retention r))
            ORDER BY t.ordinal DESC
            LIMIT 1
        ) AS t ON first_ordinal_in(t.block_number) >= (SELECT c.ordinal FROM complete c)
        WHERE s.fault IS NULL
    ), followed AS (
        SELECT p.*, c.created, p.since < p.transaction_ordinal AND p.untraced > b.untraced_before
            AS is_untraced
        FROM (
            SELECT p.*, CASE WHEN p.is_sent_since THEN p.sent_transaction
                ELSE p.previous_transaction END AS since
            FROM placed p
        ) AS p
        LEFT JOIN transactions t ON t.ordinal = p.since
        LEFT JOIN blocks b ON b.number = t.block_number
        CROSS JOIN LATERAL (
            SELECT count(*) AS created
            FROM internal_transfers i
            WHERE i.from_address = p.authority AND i.type IN (1, 2)
                AND i.ordinal >= b.internal_transfers_before AND i.ordinal < p.internal_end
                AND (i.block_number, i.transaction_index) >= (t.block_number, t.transaction_index)
                AND (i.block_number, i.transaction_index) < (p.block_number, p.transaction_index)
        ) AS c
    ), counted AS (
        SELECT f.ordinal, f.nonce, (authority_states(
                CASE WHEN f.is_sent_since THEN f.sent_nonce + 1 + f.created
                    WHEN f.previous IS NULL THEN n.first_nonce
                    WHEN f.is_first THEN f.previous_nonce + f.created END,
                f.created, coalesce(f.is_untraced, n.first_nonce IS NULL),
                coalesce(f.is_first AND (
                    SELECT a.delegate <> zero_address() OR a.is_valid IS NULL
                    FROM authorizations a
                    WHERE a.authority = f.authority AND a.is_valid IS NOT FALSE AND a.fault IS NULL
                        AND a.ordinal < first_ordinal_in((span).first_block)
                        AND a.ordinal >= (SELECT c.ordinal FROM complete c)
                    ORDER BY a.ordinal DESC
                    LIMIT 1), n.first_nonce IS NULL),
                f.nonce, f.is_delegating) OVER (PARTITION BY f.authority ORDER BY f.ordinal)
            ).nonce_before AS authority_nonce
        FROM followed f
        -- Blocks that are not indexed, or whose rows are removed, may have given an account any nonce.
        CROSS JOIN LATERAL (
            SELECT CASE WHEN c.start_block = 0 AND (SELECT o.ordinal = 0 FROM complete o) AND NOT EXISTS (
                SELECT FROM retention r
                JOIN addresses a ON a.address = f.authority AND a.first_seen < r.first_block)
                THEN 0 END AS first_nonce
            FROM chain c) AS n
    )
    SELECT s.ordinal AS ordinal, CASE WHEN NOT k.has_code THEN c.authority_nonce END AS authority_nonce,
        CASE WHEN s.fault IS NOT NULL OR k.has_code THEN false
            ELSE c.nonce = c.authority_nonce END AS is_valid
    FROM signed s
    LEFT JOIN counted c ON c.ordinal = s.ordinal
    CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM contracts o
            WHERE o.address = s.authority AND o.block_number <= s.block_number) AS has_code
    ) AS k
$$;

-- authorizations_changes() of all blocks, for `scan audit`; of those before older rows are missing as they are.
CREATE OR REPLACE FUNCTION authorizations_expected()
RETURNS TABLE (ordinal bigint, authority_nonce numeric, is_valid boolean)
LANGUAGE sql STABLE AS $$
    SELECT c.* FROM authorizations_changes(all_blocks()) c WHERE c.ordinal >= first_complete_authorization()
    UNION ALL
    SELECT a.ordinal, a.authority_nonce, a.is_valid FROM authorizations a
    WHERE a.ordinal < first_complete_authorization()
$$;

-- The further fields in the record of one transaction of type 4: its first authorizations, and their number.
CREATE OR REPLACE FUNCTION transaction_authorizations(t transactions) RETURNS text LANGUAGE sql STABLE
RETURN CASE WHEN t.type = '\x04' THEN (
    SELECT format('"authorizationCount":%s,"authorizations":%s', max(o.total),
        json_list(string_agg(authorization_record(o.a, t.hash, b.timestamp)::text,
            ',' ORDER BY o.position)))
    FROM (
        SELECT a, row_number() OVER (ORDER BY a.ordinal) AS position, count(*) OVER () AS total
        FROM authorizations a
        WHERE a.ordinal BETWEEN first_ordinal_in(t.block_number) AND last_ordinal_in(t.block_number)
            AND a.transaction_index = t.transaction_index
    ) AS o
    JOIN blocks b ON b.number = t.block_number
    WHERE o.position <= 25
    HAVING count(*) > 0) END;

-- The address whose code an account runs after authorizations up to an ordinal; null: none, or not known.
CREATE OR REPLACE FUNCTION delegate_of(account bytea, last_ordinal bigint) RETURNS bytea
LANGUAGE sql STABLE
RETURN (
    SELECT CASE WHEN a.is_valid AND a.ordinal >= first_complete_authorization()
        THEN nullif(a.delegate, zero_address()) END
    FROM authorizations a
    WHERE a.authority = account AND a.ordinal <= last_ordinal
        AND a.is_valid IS NOT FALSE AND a.fault IS NULL
    ORDER BY a.ordinal DESC
    LIMIT 1);

-- The address whose code an account ran in a transaction, whose own authorizations take effect before code runs.
CREATE OR REPLACE FUNCTION delegate_in(account bytea, block bigint, index integer) RETURNS bytea
LANGUAGE sql STABLE
RETURN delegate_of(account, (
    SELECT coalesce(max(a.ordinal), first_ordinal_in(block) - 1)
    FROM authorizations a
    WHERE a.authority = account AND a.ordinal BETWEEN first_ordinal_in(block) AND last_ordinal_in(block)
        AND a.transaction_index <= index AND a.is_valid IS NOT FALSE AND a.fault IS NULL));
