-- Logs of contracts that are followed no more are removed in steps (scan events remove), and before their children.
ALTER TABLE IF EXISTS followed_children DROP CONSTRAINT IF EXISTS followed_children_followed_as_fkey;
